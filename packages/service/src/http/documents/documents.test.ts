import { globSync, readFileSync } from 'node:fs';
import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { errorCatalogue } from '@agent-network/contracts/errors';
import { eventTypes } from '@agent-network/contracts/events';
import { failureReasons } from '@agent-network/contracts/invocations/invocations';
import { Hono } from 'hono';
import MiniSearch from 'minisearch';
import { describe, expect, it } from 'vitest';
import { toErrorAnswer } from '../answer/errors.ts';
import { siteFooter, siteHeader } from '../site/site-frame.ts';
import { reference } from './contents.ts';
import { type ApiDocument, readDocument } from './document.ts';
import { fieldsOf, typeOf } from './fields.ts';
import { examplesOf, fromRepository, guidesOf } from './guides.ts';
import { html, inline, prose, toText } from './html.ts';
import { llmsText, mountDocs, searchEntries } from './mount-docs.ts';
import { docsPages } from './page.ts';

const limit = { api: 100, invocations: 10 };
const limits = { free: limit, pro: limit, enterprise: limit, anonymous: limit, node: limit };
const document = readDocument();
const baseUrl = 'https://node.example';
const operatorLinks = { terms: 'https://node.example/terms', privacy: null, abuse: 'mailto:abuse@node.example' };
const frame = { node: 'here', hasDashboard: true, operatorLinks };
const source = { document, limits, baseUrl, repositoryUrl: null, frame };
const pages = docsPages(source);
const idsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
/** In the frame of every page. */
const framed = ['query', 'found', 'content', 'said'];
const ids = [...pages.values()].flatMap(idsOf).filter((id) => !framed.includes(id));
const whole = [...pages.values()].join('\n');
const rows = Object.entries<Endpoint>(api);

/** What newcomers wanted to know and did not find, each with the section that answers it. */
const questions = [
  ['How do I get my money back?', '/docs/recipes#recipes-get-a-refund'],
  ['refund', '/docs/recipes#recipes-get-a-refund'],
  ['What is a treasury?', '/docs#concepts-treasury'],
  ['What does held mean?', '/docs#concepts-hold'],
  ['What is a payment channel?', '/docs#concepts-channel'],
  ['Why does my new agent have a reputation of 467?', '/docs#concepts-reputation'],
  ['What does verified mean?', '/docs#concepts-verified'],
  ['How do I list my own agent?', '/docs/first-agent#firstAgent'],
  ['How do I withdraw my earnings?', '/docs/first-agent#firstAgent-5-withdraw-your-earnings'],
  ['How do I set a spending limit?', '/docs/recipes#recipes-set-a-budget'],
  ['How do I use it with Claude Desktop?', '/docs/recipes#recipes-claude-desktop-and-other-mcp-hosts'],
  ['Where is the config file of Cursor?', '/docs/recipes#recipes-claude-desktop-and-other-mcp-hosts'],
  ['How do I send a file?', '/docs/recipes#recipes-send-and-return-files'],
  ['Can an agent ask me a follow-up question?', '/docs/recipes#recipes-answer-a-follow-up-question'],
  ['How do I call an agent from LangChain?', '/docs/recipes#recipes-langchain'],
  ['Does it work with the Vercel AI SDK?', '/docs/recipes#recipes-vercel-ai-sdk'],
  ['Is there a Python package?', '/docs/python-module#pythonModule'],
  ['How do I move from x402 middleware?', '/docs/recipes#recipes-move-from-x402-middleware'],
  ['How do I check a receipt?', '/docs/receipts#receipts-checking-one'],
  ['Where do I get test money?', '/docs/recipes#recipes-add-money'],
  ['Why is my agent offline?', '/docs/building#building-why-is-my-agent-offline'],
  ['Can an agent charge by page?', '/docs/pricing#pricing'],
  ['How do I declare the input of my agent?', '/docs/typed-agents#typedAgents-declaring'],
  ['Is it safe to retry a call?', '/docs/retries#idempotency'],
  ['How do I find an agent for my task?', '/docs/calling#matching'],
  ['Can I call several agents at once?', '/docs/recipes#recipes-call-several-agents'],
] as const;

describe('the pages of the documentation', () => {
  it('have an anchor for every call, error, failure, event and object, and none twice', () => {
    const errors = Object.keys(errorCatalogue).map((code) => `error-${code}`);
    const failures = failureReasons.map((reason) => `failure-${reason}`);
    const events = eventTypes.map((type) => `event-${type}`);
    const expected = [...Object.keys(api), ...errors, ...failures, ...events, 'object-RequestRecord'];
    expect(ids).toEqual(expect.arrayContaining(expected));
    expect(new Set(ids).size).toBe(ids.length);
    for (const text of pages.values()) expect(idsOf(text)).toEqual(expect.arrayContaining(framed));
  });

  it('show each call on one page', () => {
    const shown = Object.values(reference)
      .flat()
      .flatMap(({ calls }) => calls);
    expect(shown.toSorted()).toEqual(Object.keys(api).toSorted());
  });

  it.each([...pages])('%s has at most 1,600 words beside its samples', (_path, page) => {
    const [, main = ''] = /<main[^>]*>([\s\S]*)<div class="turn">/.exec(page) ?? [];
    const text = main.replaceAll(/<pre[\s\S]*?<\/pre>|<[^>]+>/g, ' ');
    expect(text.split(/\s+/).filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(1600);
  });

  it('are still at the addresses that they had when some of them were one page', () => {
    const areas = ['agents', 'invocation', 'identity', 'payments', 'network', 'account', 'objects'];
    const former = ['calling', 'building', 'webhooks', 'retries', ...areas.map((area) => `api/${area}`)];
    for (const slug of former) expect([...pages.keys()]).toContain(`/docs/${slug}`);
  });

  it('have no link to a page or an anchor that is not there', () => {
    const anchors = new Set([...pages].flatMap(([path, text]) => [path, ...idsOf(text).map((id) => `${path}#${id}`)]));
    const links = [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/href="((?:\/docs)?[^"]*)"/g)].map(([, to = '']) => (to.startsWith('#') ? path + to : to)),
    );
    const inside = links.filter((to) => to.startsWith('/docs') && !to.startsWith('/docs/style.css'));
    expect(inside.length).toBeGreaterThan(1000);
    expect([...new Set(inside.filter((to) => !anchors.has(to)))]).toEqual([]);
  });

  it('show each chapter that is written, and tell every page from the first one', () => {
    const written = [...guidesOf(source), examplesOf()].map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(written));
    const first = pages.get('/docs') ?? '';
    for (const path of pages.keys()) expect(first, path).toContain(`href="${path}"`);
  });

  it('bring nothing that runs but their own script, and nothing from elsewhere', () => {
    expect(whole.replaceAll('<script type="module" src="/docs/docs.js"></script>', '')).not.toMatch(
      /<script|<style|\sstyle=|\son\w+=|javascript:/i,
    );
    const loaded = whole.replace(/<link rel="canonical" href="https:\/\/node\.example\/docs[^"]*">/g, '');
    expect([...loaded.matchAll(/<(?!a )[^>]*\s(?:src|href)="(?!#)([^"]*)"/g)].map(([, url]) => url)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^(https?:)?\/\//)]),
    );
  });

  it.each([...pages])('%s closes every element that it opens', (_path, page) => {
    const open: string[] = [];
    for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^>]*)?>/g)) {
      if (['meta', 'link', 'wbr', 'input', 'img'].includes(name)) continue;
      if (slash) expect(open.pop()).toBe(name);
      else open.push(name);
    }
    expect(open).toEqual([]);
  });

  it('have snippets with the address of this node, and no mark of their texts', () => {
    expect(whole).toContain('npm install https://node.example/sdk.tgz');
    expect(whole.includes('http://127.0.0.1:4020')).toBe(false);
    const marks = whole
      .replaceAll(/<(pre|code)[\s\S]*?<\/\1>/g, '')
      .matchAll(/.{0,20}(?:\]\(|\{\{|\*\*|`|^## ).{0,20}/gm);
    expect([...marks].map(([mark]) => mark)).toEqual([]);
  });

  it('tell of the limits of this node', () => {
    const others = {
      ...limits,
      pro: { api: 12_345, invocations: 678 },
      enterprise: { api: 1e9, invocations: 1e9 },
    };
    const other = docsPages({ ...source, limits: others }).get('/docs/conventions');
    for (const text of ['12,345', '678', 'no limit']) expect(other).toContain(`<td>${text}</td>`);
  });

  it('show each call in three languages, but those that only pages of the node make', () => {
    const languages = ['curl', 'TypeScript', 'Python'];
    for (const [name, row] of rows) {
      const [, section = ''] =
        new RegExp(`<section class="endpoint" id="${name}">([\\s\\S]*?)</section>`).exec(whole) ?? [];
      const shown = [...section.matchAll(/data-language="(\w+)"/g)].map(([, language]) => language);
      expect(shown, name).toEqual(row.sameOrigin ? [] : languages);
    }
  });

  it('call nothing "any JSON" whose type is known', () => {
    const isFree = /(^|[.\]])(result|types\.examples\[\]\.output)$/;
    const untyped = [...whole.matchAll(/<code>([\w.[\]]+)<\/code>[^\n]*\n<td><span class="type">any JSON/g)].map(
      ([, field = '']) => field,
    );
    expect(untyped.length).toBeGreaterThan(0);
    expect(untyped.filter((field) => !isFree.test(field))).toEqual([]);
  });

  it('are found by the words of their headings, texts and fields', () => {
    const entries = searchEntries(pages);
    const urls = new Set([...pages].flatMap(([path, text]) => idsOf(text).map((id) => `${path}#${id}`)));
    expect(entries.filter(({ id }) => !urls.has(id))).toEqual([]);
    const sections = [
      ...Object.keys(api),
      ...Object.keys(errorCatalogue).map((code) => `error-${code}`),
      'building',
      'base',
    ];
    const found = entries.map(({ id }) => id.split('#')[1]);
    expect(found).toEqual(expect.arrayContaining(sections));
    for (const { title, text } of entries) expect(title.length && text.length).toBeGreaterThan(0);
    expect(entries.filter(({ text }) => /<|&amp;/.test(text.replaceAll(/<\w*[^>]*(>|$)/g, '')))).toEqual([]);
    expect(entries.find(({ id }) => id.endsWith('#error-RATE_LIMITED'))?.text).toContain('Retry-After');
    expect(JSON.stringify(entries).length).toBeLessThan(405_000);
  });

  it('answer the questions of newcomers by the first result, and calls and errors by their names', async () => {
    const { createSearch } = await import(new URL('search.js', import.meta.url).href);
    const search = createSearch(MiniSearch, searchEntries(pages)) as (question: string) => { id: string }[];
    expect(questions.length).toBeGreaterThanOrEqual(20);
    const named = ['createWebhook', 'error-RATE_LIMITED'].map((id) => [id.replace('error-', ''), `#${id}`] as const);
    for (const [question, answer] of [...questions, ...named])
      expect.soft(search(question)[0]?.id, question).toMatch(new RegExp(`${answer}$`));
    expect(search('zzzzzzzz')).toEqual([]);
  });

  it('are where errors and the dashboard send their readers: /docs#keys leads to the section, on its page', () => {
    const known = searchEntries(pages).map(({ id }) => id.split('#')[1]);
    const root = new URL('../../../../', import.meta.url);
    const files = globSync(['service/src/**/*.ts', 'dashboard/src/**/*.{ts,tsx}'], { cwd: root });
    const named = files.flatMap((file) => {
      const text = readFileSync(new URL(file, root), 'utf8');
      return file.endsWith('.test.ts')
        ? []
        : [...text.matchAll(/(?:\/docs#|^ {4}section: ')([\w-]+)/gm)].map(([, id]) => id);
    });
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((id) => !known.includes(id))).toEqual([]);
  });

  it('have the sections that errors of the API name', () => {
    const root = new URL('../../../../', import.meta.url);
    const named = globSync(['service/src/**/*.ts', 'contracts/src/**/*.ts'], { cwd: root })
      .filter((file) => !file.includes('http/documents/'))
      .flatMap((file) => [...readFileSync(new URL(file, root), 'utf8').matchAll(/docs: '(\/docs\/[\w/-]+)#(\w+)'/g)]);
    expect(named.length).toBeGreaterThan(5);
    for (const [link, path = '', id = ''] of named) expect(idsOf(pages.get(path) ?? ''), link).toContain(id);
  });

  it('escape whatever the document says', () => {
    const hostile = JSON.parse(JSON.stringify(document)) as {
      info: { title: string };
      tags: { description: string }[];
    };
    hostile.info.title = '"><script>alert(1)</script>';
    for (const tag of hostile.tags) tag.description = "<img src=x onerror='x'>";
    const made = docsPages({
      frame,
      ...{ document: hostile as unknown as ApiDocument, limits },
      ...{ baseUrl: '"><img src=x>', repositoryUrl: 'https://x.example/"><img src=x>' },
    });
    expect([...made.values()].join('').replaceAll('<script type="module"', '')).not.toMatch(
      /<script|<img (?!src="\/favicon\.svg")/,
    );
  });
});

it('documents of the repository link to each other here, and to the rest of it where its address is known; the image has them', () => {
  const receipts = pages.get('/docs/receipts') ?? '';
  expect(pages.get('/docs/typed-agents')).toContain('<a href="/docs/pricing#pricing">pricing</a>');
  expect(receipts).toContain('decision 30.');
  const known = docsPages({ ...source, repositoryUrl: 'https://code.example/node' }).get('/docs/receipts');
  expect(known).toContain(
    '<a href="https://code.example/node/blob/HEAD/docs/decisions/0030-receipts.md">decision 30</a>',
  );
  const dockerfile = readFileSync(new URL('../../../../../deploy/Dockerfile', import.meta.url), 'utf8');
  for (const path of Object.values(fromRepository)) expect(dockerfile).toContain(` ${path} `);
});

it('a page has the header and the footer of the site, its parts, its version and date, and an edit link where the repository is known', () => {
  const text = pages.get('/docs/recipes') ?? '';
  expect(text).toContain(toText(siteHeader(frame, 'docs')));
  expect(text).toContain(toText(siteFooter(frame)));
  const [, here = ''] = /<nav class="here"([\s\S]*?)<\/nav>/.exec(text) ?? [];
  expect(here).toContain('<a href="#recipes-get-a-refund">Get a refund</a>');
  expect(text).toContain(`<span>Version ${document.info.version}</span><span>Files of <time datetime="20`);
  expect(text).not.toContain('Edit this page');
  const known = docsPages({ ...source, repositoryUrl: 'https://code.example/node' });
  const edit = 'https://code.example/node/edit/HEAD/';
  expect(known.get('/docs/receipts')).toContain(`<a href="${edit}docs/receipts.md">Edit this page</a>`);
  expect(known.get('/docs/recipes')).toContain(`${edit}packages/service/src/http/documents/guides/recipes.md`);
  expect(known.get('/docs/api/payments')).not.toContain('Edit this page');
});

it("the colours are the dashboard's", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const dashboard = read('../../../../dashboard/src/styles.css');
  const of = (theme: RegExp) =>
    new Map(
      [...(theme.exec(dashboard)?.[1] ?? '').matchAll(/(--[\w-]+): (#\w+);/g)].map(([, name, value]) => [name, value]),
    );
  const [light, dark] = [of(/:root \{([^}]*)\}/), of(/:root\[data-theme="dark"\] \{([^}]*)\}/)];
  const ours = [...read('layout.css').matchAll(/(--[\w-]+): light-dark\((#\w+), (#\w+)\);/g)];
  expect(ours.length).toBeGreaterThan(10);
  for (const [, name, inLight, inDark] of ours)
    expect([name, light.get(name), dark.get(name)]).toEqual([name, inLight, inDark]);
});

it('a flow is drawn as boxes and arrows, in its order, and a heading has the id of GitHub behind that of its chapter', () => {
  expect(toText(prose('```flow\nA -- one, 0.05 --> B <-- two -- C\n```'))).toBe(
    '<div class="flow"><div class="row"><span class="box">A</span><span class="arrow">one, 0.05</span><span class="box">B</span>' +
      '<span class="arrow back">two</span><span class="box">C</span></div></div>',
  );
  expect(toText(prose("### What `a` holds, and doesn't", 2, 'x'))).toBe(
    '<h2 id="x-what-a-holds-and-doesnt">What <code>a</code> holds, and doesn&#39;t</h2>',
  );
});

describe('html', () => {
  it('escapes values in text and in attributes, and leaves markup as it is', () => {
    expect(toText(html`<a title="${`"'<&>`}">${html`<b>${'<i>'}</b>`}</a>`)).toBe(
      '<a title="&quot;&#39;&lt;&amp;&gt;"><b>&lt;i&gt;</b></a>',
    );
    expect(toText(html`${null}${undefined}${0}${['a', [html`<br>`]]}`)).toBe('0a<br>');
  });

  it('reads code, strong words, links within the page, lists and fences, and escapes what is in them', () => {
    expect(toText(inline('a `<b>` **c** [d](#e) [f](/g) [h](https://x) [i](javascript:x)'))).toBe(
      'a <code>&lt;b&gt;</code> <strong>c</strong> <a href="#e">d</a> <a href="/g">f</a> <a href="https://x">h</a> [i](javascript:x)',
    );
    expect(toText(prose('one\n\n- a\n- b\n\n```ts\nx < 1\n\n- y\n```\n\ntwo'))).toBe(
      '<p>one</p><ul><li>a</li><li>b</li></ul><pre tabindex="0"><code>x &lt; 1\n\n- y</code></pre><p>two</p>',
    );
  });
});

it('fields are named by where they stand, and typed in words', () => {
  const schema = {
    type: 'object',
    required: ['a'],
    properties: {
      a: { type: 'object', properties: { b: { type: 'integer', minimum: 1, maximum: 1000 } } },
      list: { type: 'array', items: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } } },
      record: { anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }], description: 'what' },
      kind: { enum: ['x', 'y'], default: 'x' },
      cursor: { type: ['string', 'null'] },
    },
  };
  expect(fieldsOf(schema).map(({ path, type, object }) => [path, type, object])).toEqual([
    ['a', 'object', undefined],
    ['a.b', 'integer 1 to 1,000', undefined],
    ['list', 'list of object', undefined],
    ['list[].at', 'time', undefined],
    ['record', 'Thing | null', 'Thing'],
    ['kind', '"x" | "y"', undefined],
    ['cursor', 'string | null', undefined],
  ]);
  expect(
    fieldsOf(schema)
      .map(({ isRequired }) => isRequired)
      .slice(0, 2),
  ).toEqual([true, false]);
  expect(fieldsOf(schema).at(-2)?.description).toBe('Default: `x`.');
  expect(typeOf({})).toBe('any JSON');
});

describe('llms.txt', () => {
  const text = llmsText(document, 'https://node.example');

  it('is short, and leaves no place open', () => {
    expect(Buffer.byteLength(text)).toBeLessThan(24_000);
    expect(text).not.toContain('{{');
    expect(text).toContain('https://node.example/openapi.json');
  });

  it('names every call with what a key needs for it, every error and every event', () => {
    for (const [, row] of rows) expect(text).toContain(`- ${row.method} ${row.path} (`);
    for (const [code, { status }] of Object.entries(errorCatalogue)) expect(text).toContain(`- ${status} ${code}: `);
    for (const type of eventTypes) expect(text).toContain(type);
    expect(text).toContain('POST /payments/withdraw (payments:withdraw)');
  });
});

describe('the mounted documents', () => {
  const app = new Hono();
  mountDocs(app, { planLimits: limits, baseUrl, nodeLabel: 'here', dashboard: null, operatorLinks });
  app.onError((error) => new Response(error.message, { status: toErrorAnswer(error, 'req_1').status }));

  it.each([
    ['/docs', 'text/html; charset=utf-8', '<h1>Concepts</h1>'],
    ['/docs/', 'text/html; charset=utf-8', '<h1>Concepts</h1>'],
    ['/docs/quickstart', 'text/html; charset=utf-8', '<h1>Quickstart</h1>'],
    ['/docs/api/payments', 'text/html; charset=utf-8', '<h1>Treasuries</h1>'],
    ['/docs/style.css', 'text/css; charset=utf-8', 'light-dark('],
    ['/docs/docs.js', 'text/javascript; charset=utf-8', "import '/pages/page.js'"],
    ['/docs/search.js', 'text/javascript; charset=utf-8', 'createSearch'],
    ['/docs/search-words.js', 'text/javascript; charset=utf-8', 'stopWords'],
    ['/docs/minisearch.js', 'text/javascript; charset=utf-8', 'as default'],
    ['/docs/search.json', 'application/json', '/docs/api/withdrawals#withdraw'],
    ['/llms.txt', 'text/plain; charset=utf-8', 'Base address: https://node.example'],
  ])('%s is %s', async (path, type, content) => {
    const answer = await app.request(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await answer.text()).toContain(content);
  });

  it('a page may load its own style sheet, script and index, and nothing else', async () => {
    for (const path of ['/docs', '/docs/errors']) {
      const policy = (await app.request(path)).headers.get('content-security-policy');
      expect(policy).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
    }
  });

  it('a page that is not there is 404', async () => {
    for (const path of ['/docs/nothing', '/docs/../docs.js', '/docs/__proto__'])
      expect((await app.request(path)).status, path).toBe(404);
  });
});

it("the examples are those of the SDK's README", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8').trim();
  expect(read('../../../../sdk/README.md')).toContain(read('sdk-examples.md'));
});

it('the footer links to what the operator publishes, and to nothing that is not set', () => {
  const text = toText(siteFooter(frame));
  expect(text).toContain('<a href="https://node.example/terms" rel="noopener">Terms</a>');
  expect(text).toContain('<a href="mailto:abuse@node.example" rel="noopener">Report abuse</a>');
  expect(text).not.toContain('Privacy');
});
