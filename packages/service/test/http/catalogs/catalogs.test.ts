import { ConformanceTester } from 'lighthouse/third-party/ard/ard.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCatalogFiles } from '../../../src/http/catalogs/catalog-files.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';

const A2A = 'application/a2a-agent-card+json';
const MCP = 'application/mcp-server-card+json';
const questions = ['What will the weather be in Kyoto?', 'Do I need an umbrella today?'];

let h: Harness;
let owner: TestAccount;
let forecast: TestAgent;
let storms: TestAgent;
let gone: TestAgent;
let pending: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  owner = await h.newAccount();
  const start = (name: string, capabilities: string[], more: object = {}) =>
    startTestAgent(h, { owner, name, capabilities, ...more });
  forecast = await start('Weather forecast tools', ['weather', 'forecasting'], { metadata: { tags: ['sky'] } });
  storms = await start('Storm weather', ['weather'], { perRequest: '0' });
  gone = await start('Weather of yesterday', ['weather', 'history']);
  pending = await start('Weather unproven', ['weather'], { provesItself: false });
  for (const { id } of [forecast, storms, gone])
    await h.request('PUT', `/agents/${id}`, { key: owner.key, body: { exampleQuestions: questions } });
  await gone.die();
  await h.ctx.db.query('', `update agent set status = 'offline' where id = $1`, [gone.id]);
});
afterAll(async () => {
  await Promise.all([forecast, storms, gone, pending].map((agent) => agent?.die()));
  await h?.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => h.request('GET', path, { headers });
const post = (path: string, body: unknown) => h.request('POST', `/ard/v1/${path}`, { body });
const search = async (body: object) => (await post('search', body)).body;
// biome-ignore lint/suspicious/noExplicitAny: entries as they came
type Entry = any;
const idOf = ({ identifier }: Entry): string => identifier.split(':').find((part: string) => part.startsWith('agt_'));
const urnOf = ({ id }: TestAgent, ...more: string[]) => ['urn:air:localhost:agents', id, ...more].join(':');

/** Checks 2 to 8 of the conformance tests, of one entry. */
function checkEntry(entry: Entry): void {
  expect(entry.identifier).toMatch(/^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/);
  expect([typeof entry.displayName, entry.displayName === '', typeof entry.type]).toEqual(['string', false, 'string']);
  expect(entry.mediaType).toBe(entry.type);
  expect('url' in entry).not.toBe('data' in entry);
  if ('url' in entry) expect(new URL(entry.url).protocol).toMatch(/^https?:$/);
  const { representativeQueries: queries, updatedAt, metadata, trustManifest } = entry;
  if (queries !== undefined) {
    expect([2, 3, 4, 5]).toContain(queries.length);
    for (const query of queries) expect(query.trim()).not.toBe('');
  }
  if (updatedAt !== undefined) expect(new Date(updatedAt).toISOString()).toBe(updatedAt);
  for (const value of Object.values(metadata ?? {})) expect(typeof value).toMatch(/^(string|number|boolean)$/);
  if (trustManifest === undefined) return;
  const publisher = entry.identifier.split(':')[2];
  expect(['127.0.0.1', publisher]).toContain(new URL(trustManifest.identity).hostname);
  for (const each of trustManifest.attestations) expect(Object.keys(each).sort()).toEqual(['mediaType', 'type', 'uri']);
}

describe('the manifest', () => {
  it('has the same bytes at both addresses, each with its media type, for caches and for pages of any origin', async () => {
    const [ard, old] = [await get('/.well-known/ard.json'), await get('/.well-known/ai-catalog.json')];
    expect([ard.status, old.status]).toEqual([200, 200]);
    expect(ard.body).toEqual(old.body);
    expect(ard.headers.get('content-type')).toBe('application/json');
    expect(old.headers.get('content-type')).toBe('application/ai-catalog+json');
    for (const { headers } of [ard, old]) {
      expect(headers.get('cache-control')).toBe('public, max-age=300');
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
    const tag = ard.headers.get('etag') ?? '';
    expect(old.headers.get('etag')).toBe(tag);
    expect((await get('/.well-known/ard.json', { 'if-none-match': tag })).status).toBe(304);
  });

  it('passes checks 1 to 8', async () => {
    const { body } = await get('/.well-known/ard.json');
    expect(Object.keys(body).sort()).toEqual(['entries', 'host', 'specVersion']);
    expect(body.specVersion).toBe('1.0');
    expect(body.host).toEqual({ displayName: 'Agent Network (local)', identifier: 'localhost' });
    for (const entry of body.entries) checkEntry(entry);
    const ids = body.entries.map(({ identifier }: Entry) => identifier);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([
      'urn:air:localhost:registry:agents',
      'urn:air:localhost:node:mcp',
      ...[forecast, storms, gone].map((agent) => urnOf(agent)),
    ]);
  });

  it('passes the stock validator without a warning', async () => {
    const tester = new ConformanceTester();
    const { body } = await get('/.well-known/ard.json');
    expect(tester.validate_manifest(JSON.stringify(body), 'the manifest')).toBe(true);
    expect([tester.errors, tester.warnings]).toEqual([[], []]);
  });

  it('describes an agent as a client needs it', async () => {
    const { body } = await get('/.well-known/ard.json');
    const entry = body.entries.find(({ identifier }: Entry) => identifier === urnOf(forecast));
    expect(entry).toMatchObject({
      displayName: 'Weather forecast tools',
      type: A2A,
      capabilities: ['weather', 'forecasting'],
      tags: ['sky'],
      representativeQueries: questions,
      version: '1.0.0',
      metadata: { price: '0.05', currency: 'USDC', online: true, protocol: 'http' },
    });
    expect((await get(new URL(entry.url).pathname)).body.name).toBe('Weather forecast tools');
    const offline = body.entries.find(({ identifier }: Entry) => identifier === urnOf(gone));
    expect(offline.metadata.online).toBe(false);
    const registry = body.entries.find(({ type }: Entry) => type === 'application/ai-registry+json');
    expect(registry.url).toBe(`${h.baseUrl}/ard/v1`);
  });

  it('names files of agents where there are many, with an entry for each protocol', async () => {
    const files = createCatalogFiles(h.ctx, { maxInline: 2, step: 2 });
    const read = async (document: Promise<{ bytes: Uint8Array }>) =>
      JSON.parse(Buffer.from((await document).bytes).toString());
    const { entries } = await read(files.manifest());
    const pages = entries.filter(({ type }: Entry) => type === 'application/ai-catalog+json');
    expect(pages.map(({ url }: Entry) => url)).toEqual([1, 2].map((n) => `${h.baseUrl}/ard/v1/catalog/${n}.json`));
    const [first, second] = [await read(files.page(1)), await read(files.page(2))];
    expect(first.entries.map(idOf)).toEqual([forecast, forecast, storms, storms].map(({ id }) => id));
    expect(second.entries.map(({ type }: Entry) => type)).toEqual([A2A, MCP]);
    await expect(files.page(3)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const served = await get('/ard/v1/catalog/1.json');
    expect(served.headers.get('content-type')).toBe('application/ai-catalog+json');
    expect(served.body.entries).toHaveLength(6);
    const tester = new ConformanceTester();
    expect(tester.validate_manifest(JSON.stringify(served.body), 'a file')).toBe(true);
    for (const number of ['0', '2', '-1', '1e3', '999999999999'])
      expect([number, (await get(`/ard/v1/catalog/${number}.json`)).status]).toEqual([number, 404]);
  });
});

describe('a search', () => {
  it('passes check 10: the question of the tester', async () => {
    const startMs = performance.now();
    const query = { text: 'weather forecast tools', filter: { type: [MCP] } };
    const { status, body } = await post('search', { query, federation: 'none', pageSize: 2 });
    expect(performance.now() - startMs).toBeLessThan(5000);
    expect(status).toBe(200);
    expect(body.results.length).toBeGreaterThan(0);
    expect(body.results.length).toBeLessThanOrEqual(2);
    expect(body.results[0].identifier).toBe(urnOf(forecast, 'mcp'));
    let last = 100;
    for (const result of body.results) {
      checkEntry(result);
      expect(result.type).toBe(MCP);
      expect(Number.isInteger(result.score) && result.score >= 0 && result.score <= last).toBe(true);
      last = result.score;
      expect(result.source).toBe(`${h.baseUrl}/ard/v1`);
    }
    const tester = new ConformanceTester();
    const entries = body.results.map(({ score: _, source: __, ...entry }: Entry) => entry);
    expect(tester.validate_manifest(JSON.stringify({ specVersion: '1.0', entries }), 'results')).toBe(true);
  });

  it('finds agents that are online, each once, and others where they are asked for', async () => {
    const found = async (filter: object) =>
      new Set((await search({ query: { text: 'weather', filter } })).results.map(idOf));
    const online = new Set([forecast.id, storms.id]);
    expect(await found({})).toEqual(online);
    expect(await found({ 'metadata.online': 'false' })).toContain(gone.id);
    expect(await found({ 'metadata.online': [true, false] })).toContain(gone.id);
    expect(await found({ publisher: 'localhost' })).toEqual(online);
    expect(await found({ publisher: ['other.example'] })).toEqual(new Set());
    expect(await found({ capabilities: ['Forecasting', 'nothing'] })).toEqual(new Set([forecast.id]));
    expect(await found({ capabilities: ['no such'] })).toEqual(new Set());
    expect(await found({ capabilities: 'weather', publisher: 'localhost', type: A2A })).toEqual(online);
    expect(await found({ type: 'text/html' })).toEqual(new Set());
    const { results } = await search({ query: { text: 'weather', filter: { type: [A2A, MCP] } } });
    expect(results.map(({ type }: Entry) => type)).toEqual([A2A, MCP, A2A, MCP]);
  });

  it('gives pages by a token that holds for its question only', async () => {
    const query = { text: 'weather', filter: { type: [A2A, MCP] } };
    const seen: string[] = [];
    let pageToken: string | undefined;
    let pages = 0;
    do {
      const page = await search({ query, pageSize: 1, ...(pageToken ? { pageToken } : {}) });
      seen.push(...page.results.map(({ identifier }: Entry) => identifier));
      pageToken = page.pageToken;
      pages += 1;
    } while (pageToken !== undefined);
    expect(pages).toBe(4);
    const whole = await search({ query });
    expect(seen).toEqual(whole.results.map(({ identifier }: Entry) => identifier));
    const first = (await search({ query, pageSize: 1 })).pageToken as string;
    for (const [body, token] of [
      [{ query: { text: 'weather' } }, first],
      [{ query, federation: 'none' }, first],
      [{ query }, `9${first}`],
      [{ query }, `${first}0`],
      [{ query }, '0.'],
      [{ query }, 'x'.repeat(200)],
    ] as const) {
      const { status, body: refused } = await post('search', { ...body, pageToken: token });
      expect([token, status, refused.errorCode]).toEqual([token, 400, 'INVALID_ARGUMENT']);
    }
  });

  it('asks no other node, and names none where there is none', async () => {
    const { referrals, results } = await search({ query: { text: 'weather' }, federation: 'referrals' });
    expect([referrals, results.length]).toEqual([[], 2]);
    for (const federation of ['auto', 'none'])
      expect(await search({ query: { text: 'weather' }, federation })).not.toHaveProperty('referrals');
  });

  it.each([
    [{}, 'query'],
    [{ query: {} }, 'query.text'],
    [{ query: { text: '' } }, 'query.text'],
    [{ query: { text: 'x'.repeat(1001) } }, 'query.text'],
    [{ query: { text: 'x', limit: 1 } }, 'query.limit'],
    [{ query: { text: 'x' }, top: 1 }, 'top'],
    [{ query: { text: 'x' }, federation: 'all' }, 'federation'],
    [{ query: { text: 'x' }, pageSize: 101 }, 'pageSize'],
    [{ query: { text: 'x' }, pageSize: '2' }, 'pageSize'],
    [{ query: { text: 'x', filter: { owner: 'y' } } }, 'owner'],
    [{ query: { text: 'x', filter: { type: [] } } }, 'query.filter.type'],
    [{ query: { text: 'x', filter: { type: { any: ['y'] } } } }, 'query.filter.type'],
    [{ query: { text: 'x', filter: { type: Array(21).fill('y') } } }, 'query.filter.type'],
    [{ query: { text: 'x', filter: JSON.parse('{"__proto__":"y"}') } }, ''],
  ])('refuses %j', async (body, named) => {
    const { status, body: refused, headers } = await post('search', body);
    expect(Object.keys(refused).sort()).toEqual(['errorCode', 'message']);
    expect([status, refused.errorCode]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(refused.message).toContain(named);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it('takes the context of ARD 0.91, a bad key nowhere, and counts as a request', async () => {
    const query = { text: 'weather', '@context': 'https://agenticresourcediscovery.org/context/v1' };
    const { status, headers } = await post('search', { query });
    expect([status, headers.get('x-ratelimit-limit') === null, headers.get('cache-control')]).toEqual([
      200,
      false,
      'no-store',
    ]);
    const refused = await h.request('POST', '/ard/v1/search', { key: 'ank_live_no', body: { query } });
    expect([refused.status, refused.body.errorCode]).toEqual([401, 'UNAUTHENTICATED']);
    const many = await post('search', { query: { ...query, '@context': Array(600).fill(1) } });
    expect([many.status, many.body.errorCode]).toEqual([413, 'INVALID_ARGUMENT']);
    const text = await h.request('POST', '/ard/v1/search', {
      text: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect([text.status, text.body.errorCode]).toEqual([400, 'INVALID_ARGUMENT']);
  });
});

describe('counts and lists', () => {
  it('passes check 11: facets by type', async () => {
    const { status, body } = await post('explore', {
      query: { text: 'weather' },
      resultType: { facets: [{ field: 'type' }] },
    });
    expect([status, body]).toEqual([
      200,
      {
        resultType: 'facets',
        facets: { type: { buckets: [A2A, MCP].map((value) => ({ value, count: 2 })) } },
      },
    ]);
  });

  it('counts what a search of this node finds', async () => {
    const facets = [
      { field: 'publisher' },
      { field: 'capabilities', limit: 1 },
      { field: 'metadata.online', minCount: 2 },
    ];
    const { body } = await post('explore', { resultType: { facets } });
    expect(body.facets).toEqual({
      publisher: { buckets: [{ value: 'localhost', count: 2 }] },
      capabilities: { buckets: [{ value: 'weather', count: 2 }], otherCount: 1 },
      'metadata.online': { buckets: [{ value: 'true', count: 2 }] },
    });
    const filter = { capabilities: ['forecasting'], type: MCP };
    const filtered = await post('explore', { query: { filter }, resultType: { facets: [{ field: 'type' }] } });
    expect(filtered.body.facets.type.buckets).toEqual([{ value: MCP, count: 1 }]);
    for (const bad of [[], [{ field: 'owner' }], [{ field: 'type', limit: 51 }], Array(11).fill({ field: 'type' })])
      expect((await post('explore', { resultType: { facets: bad } })).body.errorCode).toBe('INVALID_ARGUMENT');
  });

  it('passes check 9: the list, in pages, with a filter', async () => {
    const { status, body } = await get('/ard/v1/agents');
    expect([status, body.items.map(idOf)]).toEqual([200, [forecast, storms, gone].map(({ id }) => id)]);
    for (const entry of body.items) checkEntry(entry);
    const first = (await get('/ard/v1/agents?pageSize=2')).body;
    expect(first.items.map(idOf)).toEqual([forecast.id, storms.id]);
    const rest = (await get(`/ard/v1/agents?pageSize=2&pageToken=${first.pageToken}`)).body;
    expect([rest.items.map(idOf), rest.pageToken]).toEqual([[gone.id], undefined]);
    const filtered = async (filter: string) =>
      (await get(`/ard/v1/agents?filter=${encodeURIComponent(filter)}`)).body.items?.map(idOf);
    expect(await filtered(`displayName = 'Storm weather'`)).toEqual([storms.id]);
    expect(await filtered(`type = '${MCP}' AND createdAfter > '2020-01-01'`)).toHaveLength(3);
    expect(await filtered(`updatedAfter > '2999-01-01T00:00:00Z'`)).toEqual([]);
    expect(await filtered(`publisherId = 'other.example'`)).toEqual([]);
    for (const query of [
      'filter=owner',
      'orderBy=displayName',
      'pageSize=101',
      'size=2',
      `pageSize=2&filter=displayName%20%3D%20'x'&pageToken=${first.pageToken}`,
    ])
      expect([query, (await get(`/ard/v1/agents?${query}`)).body.errorCode]).toEqual([query, 'INVALID_ARGUMENT']);
  });

  it('passes check 12: other addresses have errors of the protocol as well', async () => {
    for (const [method, path] of [
      ['GET', '/ard/v1/search'],
      ['POST', '/ard/v1/agents'],
      ['GET', '/ard/v1/nothing'],
    ] as const) {
      const { status, body } = await h.request(method, path);
      expect([path, status, body.errorCode, typeof body.message]).toEqual([path, 404, 'NOT_FOUND', 'string']);
    }
  });

  it('reads no more than the page from the database', async () => {
    await h.ctx.replica.fresh();
    await search({ query: { text: 'weather' } });
    const spy = vi.spyOn(h.ctx.db, 'query');
    await search({ query: { text: 'weather' }, pageSize: 1 });
    const names = spy.mock.calls.map(([name]) => name).filter((name) => /agent|node/.test(name));
    spy.mockRestore();
    expect(names).toEqual(['find-catalog-agents']);
  });
});

describe('the registry of MCP servers', () => {
  const META = 'io.modelcontextprotocol.registry/official';
  const nameOf = ({ id }: TestAgent, words: string) => `localhost/${words}-${id.slice('agt_'.length)}`;

  it('lists the server of the node, then those of its agents', async () => {
    const { status, body, headers } = await get('/v0.1/servers');
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(body.metadata).toEqual({ count: 4 });
    const [node, first] = body.servers;
    expect(node.server).toMatchObject({
      name: 'localhost/agent-network',
      remotes: [{ type: 'streamable-http', url: `${h.baseUrl}/mcp` }],
    });
    expect(first.server).toMatchObject({
      name: nameOf(forecast, 'weather-forecast-tools'),
      title: 'Weather forecast tools',
      version: '1.0.0',
      remotes: [{ type: 'streamable-http', url: `${h.baseUrl}/agents/${forecast.id}/mcp` }],
    });
    expect(first._meta[META]).toMatchObject({ status: 'active', isLatest: true });
    for (const { server } of body.servers) {
      expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
      expect(server.name.length).toBeLessThanOrEqual(200);
      expect(server.description.length).toBeGreaterThan(0);
      expect(server.description.length).toBeLessThanOrEqual(100);
      expect(server.title.length).toBeLessThanOrEqual(100);
    }
  });

  it('has pages, a search, and changes since a time', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await get(`/v0.1/servers?limit=1${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
      seen.push(...body.servers.map(({ server }: Entry) => server.name));
      cursor = body.metadata.nextCursor;
    } while (cursor !== undefined);
    const all = await get('/v0.1/servers');
    expect(seen).toEqual(all.body.servers.map(({ server }: Entry) => server.name));
    const names = async (query: string) =>
      (await get(`/v0.1/servers?${query}`)).body.servers.map(({ server }: Entry) => server.title);
    expect(await names('search=storm')).toEqual(['Storm weather']);
    expect(await names('search=unproven')).toEqual([]);
    expect(await names('updated_since=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await names('updated_since=2020-01-01T00:00:00Z&version=latest')).toHaveLength(3);
    expect(await names('version=9.9.9')).toEqual([]);
    for (const query of ['limit=0', 'limit=101', 'updated_since=now', 'cursor=x.y', 'q=x', 'include_deleted=yes']) {
      const { status, body } = await get(`/v0.1/servers?${query}`);
      expect([query, status, Object.keys(body)]).toEqual([query, 400, ['error']]);
    }
  });

  it('reads a server by its name, or a former one, and its version', async () => {
    const name = nameOf(forecast, 'weather-forecast-tools');
    const read = (given: string, rest = '') => get(`/v0.1/servers/${encodeURIComponent(given)}/versions${rest}`);
    const { body } = await read(name);
    expect(body).toMatchObject({ servers: [{ server: { name } }], metadata: { count: 1 } });
    expect((await read(nameOf(forecast, 'former-name'), '/latest')).body.server.name).toBe(name);
    expect((await read(name, '/1.0.0')).body).toEqual(body.servers[0]);
    expect((await read('localhost/agent-network', '/latest')).body.server.title).toBe('Agent Network');
    for (const [given, rest] of [
      [name, '/2.0.0'],
      [nameOf(pending, 'x'), ''],
      [`other.example/${name.split('/')[1]}`, ''],
      ['nothing', ''],
      ['localhost/x/y', ''],
      ['localhost/%00', ''],
    ] as const) {
      const { status, body: missing } = await read(given, rest);
      expect([given, status, missing]).toEqual([given, 404, { error: 'Server not found.' }]);
    }
  });

  it('shows a removed agent only to those who follow changes, with nothing but its name', async () => {
    const agent = await startTestAgent(h, { owner, name: 'Short lived', capabilities: ['passing'] });
    await agent.die();
    expect((await h.request('DELETE', `/agents/${agent.id}`, { key: owner.key })).status).toBe(200);
    const name = nameOf(agent, 'short-lived');
    const named = async (path: string) =>
      (await get(path)).body.servers.find(({ server }: Entry) => server.name === name);
    expect(await named('/v0.1/servers?limit=50')).toBeUndefined();
    const shown = await named('/v0.1/servers?limit=50&updated_since=2020-01-01T00:00:00Z');
    expect(shown._meta[META].status).toBe('deleted');
    expect(shown.server).not.toHaveProperty('remotes');
    expect((await get(`/v0.1/servers/${encodeURIComponent(name)}/versions/latest`)).status).toBe(404);
  });
});

it('an agent’s page has its entry as JSON-LD', async () => {
  const page = await h.request('GET', `/agents/${forecast.id}`, { headers: { accept: 'text/html' } });
  const path = new URL(page.headers.get('location') ?? '', h.baseUrl).pathname;
  const { body } = await h.request('GET', path, { headers: { accept: 'text/html' } });
  const blocks = [...String(body).matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/g)].map(([, json]) =>
    JSON.parse(json ?? ''),
  );
  expect(blocks).toContainEqual(
    expect.objectContaining({
      '@context': 'https://agenticresourcediscovery.org/context/v1',
      identifier: urnOf(forecast),
    }),
  );
});
