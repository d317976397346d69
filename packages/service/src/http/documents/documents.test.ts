import { globSync, readFileSync } from 'node:fs';
import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { errorCatalogue } from '@agent-network/contracts/errors';
import { eventTypes } from '@agent-network/contracts/events';
import { failureReasons } from '@agent-network/contracts/invocations/invocations';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { toErrorAnswer } from '../answer/errors.ts';
import { searchEntries } from './docs/search-entries.ts';
import { type ApiDocument, readDocument } from './document.ts';
import { fieldsOf, typeOf } from './fields.ts';
import { examplesOf, guidesOf } from './guides.ts';
import { html, inline, prose, toText } from './html.ts';
import { llmsText, mountDocs } from './mount-docs.ts';
import { docsPages } from './page.ts';

const limit = { api: 100, invocations: 10 };
const limits = { free: limit, pro: limit, enterprise: limit, anonymous: limit, node: limit };
const document = readDocument();
const baseUrl = 'https://node.example';
const pages = docsPages({ document, limits, baseUrl });
const idsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
/** In the frame of every page. */
const framed = ['query', 'found', 'content', 'said'];
const ids = [...pages.values()].flatMap(idsOf).filter((id) => !framed.includes(id));
const whole = [...pages.values()].join('\n');
const rows = Object.entries<Endpoint>(api);

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
    const written = [...guidesOf(document, limits, baseUrl), examplesOf()].map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(written));
    const first = pages.get('/docs') ?? '';
    for (const path of pages.keys()) expect(first, path).toContain(`href="${path}"`);
  });

  it('bring nothing that runs but their own script, and nothing from elsewhere', () => {
    expect(whole.replaceAll('<script type="module" src="/docs/docs.js"></script>', '')).not.toMatch(
      /<script|<style|\sstyle=|\son\w+=|javascript:/i,
    );
    const loaded = whole.replace(/<link rel="canonical" href="https:\/\/node\.example\/docs[^"]*">/g, '');
    expect([...loaded.matchAll(/\s(?:src|href)="(?!#)([^"]*)"/g)].map(([, url]) => url)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^(https?:)?\/\//)]),
    );
  });

  it.each([...pages])('%s closes every element that it opens', (_path, page) => {
    const open: string[] = [];
    for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^>]*)?>/g)) {
      if (['meta', 'link', 'wbr', 'input'].includes(name)) continue;
      if (slash) expect(open.pop()).toBe(name);
      else open.push(name);
    }
    expect(open).toEqual([]);
  });

  it('have snippets with the address of this node, and no mark of their texts', () => {
    expect(whole).toContain('npm install https://node.example/sdk.tgz');
    expect(whole.includes('http://127.0.0.1:4020')).toBe(false);
    const marks = whole.replaceAll(/<(pre|code)[\s\S]*?<\/\1>/g, '').matchAll(/.{20}(?:\]\(|\{\{|\*\*).{20}/g);
    expect([...marks].map(([mark]) => mark)).toEqual([]);
  });

  it('tell of the limits of this node', () => {
    const others = {
      ...limits,
      pro: { api: 12_345, invocations: 678 },
      enterprise: { api: 1e9, invocations: 1e9 },
    };
    const other = docsPages({ document, limits: others, baseUrl }).get('/docs/conventions');
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
    expect(JSON.stringify(entries).length).toBeLessThan(400_000);
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

  it('escape whatever the document says', () => {
    const hostile = JSON.parse(JSON.stringify(document)) as {
      info: { title: string };
      tags: { description: string }[];
    };
    hostile.info.title = '"><script>alert(1)</script>';
    for (const tag of hostile.tags) tag.description = "<img src=x onerror='x'>";
    const made = docsPages({ document: hostile as unknown as ApiDocument, limits, baseUrl: '"><img src=x>' });
    expect([...made.values()].join('').replaceAll('<script type="module"', '')).not.toMatch(/<script|<img/);
  });
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

describe('html', () => {
  it('escapes values in text and in attributes, and leaves markup as it is', () => {
    expect(toText(html`<a title="${`"'<&>`}">${html`<b>${'<i>'}</b>`}</a>`)).toBe(
      '<a title="&quot;&#39;&lt;&amp;&gt;"><b>&lt;i&gt;</b></a>',
    );
    expect(toText(html`${null}${undefined}${0}${['a', [html`<br>`]]}`)).toBe('0a<br>');
  });

  it('reads code, strong words, links within the page, lists and fences, and escapes what is in them', () => {
    expect(toText(inline('a `<b>` **c** [d](#e) [f](/g) [h](https://x)'))).toBe(
      'a <code>&lt;b&gt;</code> <strong>c</strong> <a href="#e">d</a> <a href="/g">f</a> [h](https://x)',
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
    expect(Buffer.byteLength(text)).toBeLessThan(21_000);
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
  mountDocs(app, { planLimits: limits, baseUrl });
  app.onError((error) => new Response(error.message, { status: toErrorAnswer(error, 'req_1').status }));

  it.each([
    ['/docs', 'text/html; charset=utf-8', '<h1>Quickstart</h1>'],
    ['/docs/', 'text/html; charset=utf-8', '<h1>Quickstart</h1>'],
    ['/docs/api/payments', 'text/html; charset=utf-8', '<h1>Payments</h1>'],
    ['/docs/style.css', 'text/css; charset=utf-8', 'light-dark('],
    ['/docs/docs.js', 'text/javascript; charset=utf-8', 'navigator.clipboard'],
    ['/docs/minisearch.js', 'text/javascript; charset=utf-8', 'as default'],
    ['/docs/search.json', 'application/json', '/docs/api/payments#withdraw'],
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
