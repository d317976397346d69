import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentSlug } from '../../../src/agents/agent-slug.ts';
import { createSitemap } from '../../../src/http/site/sitemap.ts';
import { askDatabase } from '../../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';

/** As Chromium sends it. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

const hostile = `<img src=x onerror=alert(1)></script><script>alert(2)</script>" onmouseover='alert(3)' \${7*7}`;

const operatorLinks = { TERMS_URL: 'https://node.example/terms?a=1&b', ABUSE_CONTACT: 'abuse@node.example' };

let h: Harness;
let owner: TestAccount;
let agents: string[];
beforeAll(async () => {
  h = await startHarness({ env: operatorLinks });
  owner = await h.newAccount();
  agents = [];
  for (const name of ['Echo Écho', 'مترجم النصوص', hostile.slice(0, 110)]) agents.push(await register(name));
});
afterAll(() => h.stop());

async function register(name: string, more: Record<string, unknown> = {}): Promise<string> {
  const body = { name, description: hostile, capabilities: ['text.echo'], rates: { perRequest: '0.05' }, ...more };
  const { status, body: answer } = await h.request('POST', '/agents', {
    key: owner.key,
    body: { endpoint: 'http://127.0.0.1:9/agent', ...body },
  });
  if (status !== 200) throw new Error(JSON.stringify(answer));
  return answer.data.id;
}

/** As a proved endpoint would have it, without one. */
const prove = (id: string) =>
  askDatabase(h.databaseUrl, `update agent set endpoint_proven_at = now(), status = 'online' where id = '${id}'`);

async function get(
  path: string,
  headers: Record<string, string> = { accept: BROWSER },
  method: 'GET' | 'HEAD' = 'GET',
) {
  const answer = await request(h.baseUrl + path, { method, headers });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  return { status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString() };
}

const [echo, arabic, evil] = [() => agents[0] ?? '', () => agents[1] ?? '', () => agents[2] ?? ''];

/** Those of samples, and of the form that runs an agent. */
const [PAGE_SCRIPT, TRY_SCRIPT] = ['page', 'try/try-it'].map(
  (name) => `<script type="module" src="/pages/${name}.js"></script>`,
) as [string, string];
const DATA = /<script type="application\/ld\+json">([^<]*)<\/script>/g;

/** The objects of schema.org in a page. */
const dataOf = (text: string) => [...text.matchAll(DATA)].map(([, json]) => JSON.parse(json ?? ''));

describe('JSON and pages of one address', () => {
  it.each([
    undefined,
    '*/*',
    'application/json',
    'application/json, text/plain, */*',
    'application/json, text/html',
    'text/html;q=0.5, application/json',
    'text/event-stream',
    'image/png, */*;q=0.5',
    'text/html;q=0',
  ])('a client that sends Accept: %s gets the same JSON, byte for byte', async (accept) => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    const [root, agent] = await Promise.all([get('/', headers), get(`/agents/${echo()}`, headers)]);
    expect([root.headers['content-type'], agent.headers['content-type']]).toEqual([
      'application/json',
      'application/json',
    ]);
    expect(root.bytes).toEqual((await get('/', {})).bytes);
    expect(agent.bytes).toEqual((await get(`/agents/${echo()}`, {})).bytes);
    for (const { headers: got } of [root, agent]) expect(String(got.vary)).toMatch(/\bAccept\b(?!-)/);
  });

  it('a program with a key gets JSON, whatever its library sends as Accept', async () => {
    const { headers } = await get(`/agents/${echo()}`, { accept: BROWSER, authorization: `Bearer ${owner.key}` });
    expect(headers['content-type']).toBe('application/json');
  });

  it.each(['/', '/explore', 'agent'])('a browser gets a page at %s, of which it keeps a copy', async (path) => {
    const at = path === 'agent' ? `/agents/${agentSlug({ id: echo(), name: 'Echo Écho' })}` : path;
    const page = await get(at);
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(String(page.headers.vary)).toMatch(/\bAccept\b(?!-)/);
    const again = await get(at, { accept: BROWSER, 'if-none-match': String(page.headers.etag) });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    const head = await get(at, { accept: BROWSER }, 'HEAD');
    expect([head.status, head.bytes.length, Number(head.headers['content-length'])]).toEqual([
      200,
      0,
      page.bytes.length,
    ]);
    expect(page.bytes.length).toBeLessThan(60_000);
  });

  it('paths of the API that look like an agent stay what they are', async () => {
    for (const path of ['/agents/facets', `/agents/${echo()}/status`, '/agents'])
      expect((await get(path)).headers['content-type']).toBe('application/json');
  });
});

describe('an address of an agent', () => {
  it('is its name and id; whoever asks by id, or by a former or made-up name, is led to it', async () => {
    const ending = echo().slice('agt_'.length);
    const canonical = `/agents/echo-echo-${ending}`;
    for (const part of [echo(), `something-else-${ending}`]) {
      const { status, headers } = await get(`/agents/${part}`);
      expect([status, headers.location, headers['cache-control']]).toEqual([301, canonical, 'public, no-cache']);
    }
    expect((await get(canonical)).status).toBe(200);
    const id = await register('Before');
    const [before, after] = ['before', 'after'].map((word) => `/agents/${word}-${id.slice(4)}`);
    expect((await get(before ?? '')).status).toBe(200);
    await h.request('PUT', `/agents/${id}`, { key: owner.key, body: { name: 'After' } });
    await expect.poll(async () => (await get(before ?? '')).headers.location).toBe(after);
    expect((await get(after ?? '')).status).toBe(200);
  });

  it('gives programs the JSON of the id', async () => {
    const { bytes } = await get(`/agents/whatever-${echo().slice(4)}`, {});
    expect(bytes).toEqual((await get(`/agents/${echo()}`, {})).bytes);
  });

  it('of a name in another alphabet is its id', async () => {
    const { status, text } = await get(`/agents/${arabic()}`);
    expect(status).toBe(200);
    expect(text).toContain('<h1 dir="auto">مترجم النصوص</h1>');
    // In the plain text of previews the direction of the name ends with it.
    expect(text).toContain('<meta property="og:title" content="\u2068مترجم النصوص\u2069 · ');
    expect(text).toContain('<meta property="og:image:alt" content="\u2068مترجم النصوص\u2069. 0.05 USDC per request.">');
  });

  it.each(['/agents/agt_00000000000000000000000000', '/agents/nobody', '/agents/x-00000000000000000000000000'])(
    'that does not exist (%s) is a 404 page, not cached or indexed',
    async (path) => {
      const { status, headers, text } = await get(path);
      expect([status, headers['cache-control']]).toEqual([404, 'no-store']);
      expect(text).toContain('noindex');
    },
  );
});

describe('texts of strangers', () => {
  it('are text on every page: no element, attribute or script of theirs', async () => {
    const pages = ['/', '/explore', `/agents/${evil()}`, `/explore?q=${encodeURIComponent(hostile)}`];
    for (const path of pages) {
      let { headers, text, status } = await get(path);
      if (status === 301) ({ headers, text, status } = await get(String(headers.location)));
      expect([status, path]).toEqual([200, path]);
      const hasScript = !path.startsWith('/explore');
      expect(text.includes(PAGE_SCRIPT)).toBe(hasScript);
      expect(text.includes(TRY_SCRIPT)).toBe(path.startsWith('/agents/'));
      const foreign = text.replace(DATA, '').replace(PAGE_SCRIPT, '').replace(TRY_SCRIPT, '');
      expect(foreign).not.toMatch(/<img src=x|<script|" onmouseover|javascript:/i);
      expect(String(headers['content-security-policy'])).toBe(
        `default-src 'none'; ${hasScript ? "script-src 'self'; " : ''}style-src 'self'; img-src 'self'${hasScript ? ' blob:' : ''}; manifest-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      );
    }
    const { location } = (await get(`/agents/${evil()}`)).headers;
    const [service] = dataOf((await get(String(location))).text);
    expect([service.name, service.description]).toEqual([hostile.slice(0, 110), hostile]);
  });

  it('become links to web pages only', async () => {
    const id = await register('Linked', { metadata: { website: 'https://site.example/?a="b' } });
    const page = async () => (await get(`/agents/linked-${id.slice(4)}`)).text;
    expect(await page()).toContain('href="https://site.example/?a=%22b" rel="nofollow ugc noopener"');
    await askDatabase(
      h.databaseUrl,
      `update agent set metadata = '{"website": "javascript:alert(1)"}' where id = '${id}'`,
    );
    await expect.poll(page).not.toContain('site.example');
    expect(await page()).not.toContain('href="javascript');
  });
});

it('icons are pictures under the names that browsers ask for, and the manifest names those that are there', async () => {
  const { headers, text } = await get('/site.webmanifest');
  expect(headers['content-type']).toBe('application/manifest+json');
  const { icons } = JSON.parse(text) as { icons: { src: string }[] };
  for (const path of ['/apple-touch-icon.png', ...icons.map(({ src }) => src)]) {
    const { status, bytes } = await get(path);
    expect([status, bytes.subarray(1, 4).toString()]).toEqual([200, 'PNG']);
  }
  expect([...(await get('/favicon.ico')).bytes.subarray(0, 4)]).toEqual([0, 0, 1, 0]);
});

describe('search engines and previews', () => {
  it('are told addresses of the configuration, whatever host was asked for', async () => {
    const slug = agentSlug({ id: echo(), name: 'Echo Écho' });
    await prove(echo());
    const text = async () =>
      (await get(`/agents/${slug}`, { accept: BROWSER, host: 'evil.example', 'x-forwarded-host': 'evil.example' }))
        .text;
    await expect.poll(text).toContain(`<link rel="canonical" href="${h.baseUrl}/agents/${slug}">`);
    expect(await text()).toContain(`<meta property="og:image" content="${h.baseUrl}/agents/${slug}/preview.png">`);
    expect(await text()).not.toContain('evil.example');
    for (const path of ['/robots.txt', '/sitemap.xml', '/sitemap-1.xml'])
      expect((await get(path, { host: 'evil.example' })).text).not.toContain('evil.example');
  });

  it('are asked not to list agents whose endpoint is not proven, and lists with filters', async () => {
    const noindex = '<meta name="robots" content="noindex, follow">';
    const pending = await register('Pending');
    expect((await get(`/agents/pending-${pending.slice(4)}`)).text).toContain(noindex);
    expect((await get('/explore?q=echo')).text).toContain(noindex);
    expect((await get('/explore?utm_source=x')).text).not.toContain(noindex);
    expect((await get('/')).text).not.toContain(noindex);
    expect((await get('/sitemap-1.xml')).text).not.toContain(pending);
  });

  it('get every proven agent of this node in files of bounded size', async () => {
    const proven = [echo(), evil()];
    for (let i = 0; i < 3; i++) proven.push(await register(`Mapped ${i}`));
    await Promise.all(proven.map(prove));
    const sitemap = createSitemap(h.ctx, 2);
    const index = Buffer.from((await sitemap.index()).bytes).toString();
    expect(index.match(/<loc>/g)).toHaveLength(3);
    expect(index).toContain(`<loc>${h.baseUrl}/sitemap-3.xml</loc>`);
    const files = await Promise.all([1, 2, 3].map((number) => sitemap.file(number)));
    const paths = files.flatMap(({ bytes }) =>
      [
        ...Buffer.from(bytes)
          .toString()
          .matchAll(/<loc>(.*?)<\/loc>/g),
      ].map(([, url]) => url?.slice(h.baseUrl.length)),
    );
    const [home, list, ...others] = paths;
    expect([home, list]).toEqual(['/', '/explore']);
    const isGuide = (path?: string) => path?.startsWith('/docs') ?? false;
    const guides = await Promise.all(others.filter(isGuide).map(async (path) => (await get(path ?? '')).status));
    expect(guides.length).toBeGreaterThan(5);
    expect(new Set(guides)).toEqual(new Set([200]));
    expect(others.filter((path) => !isGuide(path)).map((path) => `agt_${path?.slice(-26)}`)).toEqual(
      [...proven].sort(),
    );
    await expect(sitemap.file(4)).rejects.toThrow('Sitemap not found.');
  });

  it('get a picture of an agent as PNG of 1200 by 630, the same to all, drawn once', async () => {
    const path = `/agents/${echo()}/preview.png`;
    const [first, again] = [await get(path, {}), await get(path, {})];
    expect([first.status, first.headers['content-type']]).toEqual([200, 'image/png']);
    expect(first.bytes.subarray(1, 4).toString()).toBe('PNG');
    expect([first.bytes.readUInt32BE(16), first.bytes.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(again.bytes).toEqual(first.bytes);
    expect((await get(path, { 'if-none-match': String(first.headers.etag) })).status).toBe(304);
    expect((await get('/agents/agt_00000000000000000000000000/preview.png', {})).status).toBe(404);
    expect((await get('/preview.png', {})).status).toBe(200);
  });
});

describe('the list of agents', () => {
  const names = (text: string) =>
    [...text.matchAll(/<h2><a href="[^"]*" dir="auto">(.*?)<\/a>/g)].map(([, name]) => name);

  it('is searched and filtered by a form, without a script', async () => {
    const id = await register('Unlike the others', { capabilities: ['rare.thing'], rates: { perRequest: '0.70' } });
    const search = async (query: string) => names((await get(`/explore?${query}`)).text);
    expect(await search('capability=rare.thing&q=&maxPrice=')).toEqual(['Unlike the others']);
    expect(await search('q=unlike')).toEqual(['Unlike the others']);
    expect(await search('capability=rare.thing&maxPrice=0.5')).toEqual([]);
    expect(await search('capability=rare.thing&online=yes')).toEqual([]);
    await h.request('DELETE', `/agents/${id}`, { key: owner.key });
  });

  it('is read to its end by links', async () => {
    for (let i = 0; i < 21; i++) await register(`Page ${i}`, { capabilities: ['paged'] });
    const first = (await get('/explore?capability=paged&sort=name')).text;
    const next = /<a rel="next" href="([^"]*)">/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = (await get(next)).text;
    expect([...names(first), ...names(second)].sort()).toEqual(
      Array.from({ length: 21 }, (_, i) => `Page ${i}`).sort(),
    );
    expect(second).not.toContain('rel="next"');
  });

  it('tells what to do where nothing matches', async () => {
    const { text } = await get('/explore?q=zzzzqqqq&online=yes');
    expect(text).toContain('No agent matches');
    expect(text).toContain('<a href="/explore?q=zzzzqqqq">Search without filters</a>');
    expect(text).toContain('<a href="/#list">List it</a>');
  });

  it.each(['maxPrice=cheap', 'minReputation=2000', 'capability=%3Cb%3E', 'cursor=forged', 'cursor=x&q=echo'])(
    'says what is wrong with %s',
    async (query) => {
      const { status, text } = await get(`/explore?${query}`);
      expect(status).toBe(400);
      expect(text).toContain('This cannot be searched for');
    },
  );
});

describe('the front page', () => {
  it('shows a recorded example while no agent is online, and says so', async () => {
    await askDatabase(h.databaseUrl, `update agent set status = 'offline'`);
    await expect.poll(async () => (await get('/')).text).toContain('Recorded example');
    expect((await get('/')).text).not.toContain(TRY_SCRIPT);
    await askDatabase(h.databaseUrl, `update agent set status = 'online' where endpoint_proven_at is not null`);
    await expect.poll(async () => (await get('/')).text).toContain('Live on this node');
  });

  it('and every other page link to what the operator publishes; programs get the same links', async () => {
    for (const path of ['/', '/explore', '/docs', '/nothing-here']) {
      const { text } = await get(path);
      expect(text, path).toContain('href="https://node.example/terms?a=1&amp;b"');
      expect(text, path).toContain('href="mailto:abuse@node.example"');
      expect(text, path).not.toContain('>Privacy<');
    }
    const links = { terms: operatorLinks.TERMS_URL, abuse: 'mailto:abuse@node.example' };
    const start = JSON.parse((await get('/', { accept: 'application/json' })).text);
    expect(start).toMatchObject(links);
    expect(start).not.toHaveProperty('privacy');
  });

  it('has the number of agents, and calls and commands with the address of the node', async () => {
    const agentsShown = async () => /All (\d+) agents/.exec((await get('/')).text)?.[1];
    const { body } = await h.request('GET', '/agents?limit=1');
    // The page is drawn anew after a second at most.
    await expect.poll(agentsShown).toBe(String(body.data.total));
    const { text } = await get('/');
    expect(text).toContain(`npm install -g ${h.baseUrl}/cli.tgz`);
    expect(text).toContain(`&quot;url&quot;: &quot;${h.baseUrl}/mcp&quot;`);
    expect(dataOf(text)[0]).toMatchObject({ '@type': 'WebSite', url: `${h.baseUrl}/` });
  });
});

it('an agent whose price per request is 0, and that charges for units, is called free nowhere', async () => {
  const perUnit = { price: '0.02', unit: 'page', count: '/pages', measure: 'number', maximum: '0.50' };
  const common = { capabilities: ['price.units'], rates: { perRequest: '0' } };
  const charging = [];
  for (let each = 0; each < 6; each++) charging.push(await register('Counter', { ...common, metadata: { perUnit } }));
  const ids = [...charging, await register('Counter', common)];
  for (const id of ids) await prove(id);
  const [page, free] = await Promise.all(
    [ids[0], ids[6]].map((id = '') => get(`/agents/${agentSlug({ id, name: 'Counter' })}`)),
  );
  expect(free?.text).toContain('<strong>Free</strong>');
  expect(page?.text.split('<h2>Alternatives')[0]).not.toMatch(/\bfree\b/i);
  const offer = { '@type': 'AggregateOffer', lowPrice: '0.00', highPrice: '0.50' };
  expect(dataOf(page?.text ?? '')[0].offers).toMatchObject(offer);
  const { text } = await get('/explore?capability=price.units');
  expect(text.match(/<strong>(Free|from 0\.00 USDC per request)</g)?.toSorted()).toHaveLength(7);
  expect(text.match(/<strong>Free</g)).toHaveLength(1);
  // The page is drawn anew after a second at most.
  await expect.poll(async () => /data-agent="(\w+)"/.exec((await get('/')).text)?.[1]).toBe(ids[6]);
});

it('the pages of a node on a local chain never call it Base Sepolia', async () => {
  await prove(echo());
  for (const path of ['/', `/agents/${agentSlug({ id: echo(), name: 'Echo Écho' })}`]) {
    const { text } = await get(path);
    expect(text).toContain('a local test chain');
    expect(text).not.toContain('Base Sepolia');
  }
});

it('the page of an agent with a price by usage says for what, and at most how much; it is not called free', async () => {
  const perUsage = {
    prices: [
      { unit: 'output_token', price: '0.000008' },
      { unit: 'x-row', price: '0.1' },
    ],
    maximum: '0.40',
  };
  const common = { capabilities: ['price.usage'], rates: { perRequest: '0' } };
  const id = await register('Meter', { ...common, metadata: { perUsage } });
  await prove(id);
  const { text } = await get(`/agents/${agentSlug({ id, name: 'Meter' })}`);
  expect(text).toContain('0.000008 USDC per output token, 0.1 USDC per row; at most 0.40 USDC, known after the call');
  expect(text.split('<h2>Alternatives')[0]).not.toMatch(/\bfree\b/i);
  expect(dataOf(text)[0].offers).toMatchObject({ lowPrice: '0.00', highPrice: '0.40' });
});
