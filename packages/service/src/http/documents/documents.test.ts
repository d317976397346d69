import { readFileSync } from 'node:fs';
import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { errorCatalogue } from '@agent-network/contracts/errors';
import { eventTypes } from '@agent-network/contracts/events';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { type ApiDocument, readDocument } from './document.ts';
import { fieldsOf, typeOf } from './fields.ts';
import { html, inline, prose, toText } from './html.ts';
import { llmsText } from './llms.ts';
import { mountDocs } from './mount-docs.ts';
import { docsPage } from './page.ts';

const limit = { api: 100, invocations: 10 };
const limits = { free: limit, pro: limit, enterprise: limit, anonymous: limit, node: limit };
const document = readDocument();
const page = docsPage(document, limits);
const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
const rows = Object.entries<Endpoint>(api);

describe('the reference page', () => {
  it('has an anchor for every call, error, event and object, and none twice', () => {
    const errors = Object.keys(errorCatalogue).map((code) => `error-${code}`);
    const events = eventTypes.map((type) => `event-${type}`);
    expect(ids).toEqual(expect.arrayContaining([...Object.keys(api), ...errors, ...events, 'object-RequestRecord']));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has no link to an anchor that is not there', () => {
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.length).toBeGreaterThan(200);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  });

  it('brings nothing that runs, and nothing from elsewhere', () => {
    expect(page).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:/i);
    expect([...page.matchAll(/\s(?:src|href)="(?!#)([^"]*)"/g)].map(([, url]) => url)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^(https?:)?\/\//)]),
    );
  });

  it('closes every element that it opens', () => {
    const open: string[] = [];
    for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^>]*)?>/g)) {
      if (['meta', 'link', 'wbr'].includes(name)) continue;
      if (slash) expect(open.pop()).toBe(name);
      else open.push(name);
    }
    expect(open).toEqual([]);
  });

  it('tells of the limits of this node', () => {
    const other = docsPage(document, {
      ...limits,
      pro: { api: 12_345, invocations: 678 },
      enterprise: { api: 1e9, invocations: 1e9 },
    });
    for (const text of ['12,345', '678', 'no limit']) expect(other).toContain(`<td>${text}</td>`);
  });

  it('escapes whatever the document says', () => {
    const hostile = JSON.parse(JSON.stringify(document)) as {
      info: { title: string };
      tags: { description: string }[];
    };
    hostile.info.title = '"><script>alert(1)</script>';
    for (const tag of hostile.tags) tag.description = "<img src=x onerror='x'>";
    expect(docsPage(hostile as unknown as ApiDocument, limits)).not.toMatch(/<script|<img/);
  });
});

describe('html', () => {
  it('escapes values in text and in attributes, and leaves markup as it is', () => {
    expect(toText(html`<a title="${`"'<&>`}">${html`<b>${'<i>'}</b>`}</a>`)).toBe(
      '<a title="&quot;&#39;&lt;&amp;&gt;"><b>&lt;i&gt;</b></a>',
    );
    expect(toText(html`${null}${undefined}${0}${['a', [html`<br>`]]}`)).toBe('0a<br>');
  });

  it('reads code, strong words, links within the page, lists and fences, and escapes what is in them', () => {
    expect(toText(inline('a `<b>` **c** [d](#e) [f](https://x)'))).toBe(
      'a <code>&lt;b&gt;</code> <strong>c</strong> <a href="#e">d</a> [f](https://x)',
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
    },
  };
  expect(fieldsOf(schema).map(({ path, type, object }) => [path, type, object])).toEqual([
    ['a', 'object', undefined],
    ['a.b', 'integer 1 to 1,000', undefined],
    ['list', 'list of object', undefined],
    ['list[].at', 'time', undefined],
    ['record', 'Thing | null', 'Thing'],
    ['kind', '"x" | "y"', undefined],
  ]);
  expect(
    fieldsOf(schema)
      .map(({ isRequired }) => isRequired)
      .slice(0, 2),
  ).toEqual([true, false]);
  expect(fieldsOf(schema).at(-1)?.description).toBe('Default: `x`.');
  expect(typeOf({})).toBe('any JSON');
});

describe('llms.txt', () => {
  const text = llmsText(document, 'https://node.example');

  it('is short, and leaves no place open', () => {
    expect(Buffer.byteLength(text)).toBeLessThan(20_000);
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
  mountDocs(app, { planLimits: limits, baseUrl: 'https://node.example' });

  it.each([
    ['/docs', 'text/html; charset=utf-8', '<h1>API reference</h1>'],
    ['/docs/style.css', 'text/css; charset=utf-8', 'prefers-color-scheme: dark'],
    ['/llms.txt', 'text/plain; charset=utf-8', 'Base address: https://node.example'],
  ])('%s is %s', async (path, type, content) => {
    const answer = await app.request(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await answer.text()).toContain(content);
  });

  it('the page may load its own style sheet and nothing else', async () => {
    const policy = (await app.request('/docs')).headers.get('content-security-policy');
    expect(policy).toBe(
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });
});

it("the examples are those of the SDK's README", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8').trim();
  expect(read('../../../../sdk/README.md')).toContain(read('sdk-examples.md'));
});
