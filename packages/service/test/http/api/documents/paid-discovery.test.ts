import { checkEndpointSchema, discoverOriginSchema, GuidanceMode } from '@agentcash/discovery';
import { HTTPFacilitatorClient } from '@x402/core/server';
import {
  isValidServiceName,
  sanitizeTags,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
  withBazaar,
} from '@x402/extensions/bazaar';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { expectError } from '../support/expect-error.ts';

const MIN = '0.002';
const longName = 'Ä'.repeat(120);
let h: Harness;
let agents: TestAgent[];
/** By price: free, too cheap to be paid on chain, and three that can be paid. */
let [free, dust, cheap, middle, dear] = [] as unknown as [TestAgent, TestAgent, TestAgent, TestAgent, TestAgent];
beforeAll(async () => {
  h = await startHarness({ env: { MIN_PAYMENT: MIN, CHANNELS: 'true' } });
  const start = (perRequest: string, name: string, capabilities: string[]) =>
    startTestAgent(h, { perRequest, name, capabilities });
  free = await start('0', 'Free', ['weaving']);
  dust = await start('0.001999', 'Dust', ['weaving']);
  cheap = await start(MIN, longName, ['weaving', 'x'.repeat(40)]);
  middle = await start('0.05', 'Middle loom', ['weaving']);
  dear = await start('1.25', 'Dear loom', ['spinning']);
  agents = [free, dust, cheap, middle, dear];
  await (await startTestAgent(h, { perRequest: '0.01', name: 'Gone loom' })).die();
  await h.ctx.db.query('', `update agent set status = 'offline' where name = 'Gone loom'`);
});
afterAll(async () => {
  await Promise.all((agents ?? []).map((agent) => agent.die()));
  await h.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => h.request('GET', path, { headers });
const urlOf = ({ id }: TestAgent) => `${h.baseUrl}/x402/${id}`;
const resourcesOf = (items: readonly { resource: string }[]) => items.map(({ resource }) => resource);

describe('a facilitator’s client (withBazaar)', () => {
  const client = () => withBazaar(new HTTPFacilitatorClient({ url: h.baseUrl })).extensions.bazaar;

  it('lists the agents that are online and can be paid on chain, the cheapest first, in exact pages', async () => {
    const { items, pagination, x402Version } = await client().listResources();
    expect(resourcesOf(items)).toEqual([cheap, middle, dear].map(urlOf));
    expect([x402Version, pagination]).toEqual([2, { limit: 20, offset: 0, total: 3 }]);
    const second = await client().listResources({ limit: 1, offset: 1 });
    expect([resourcesOf(second.items), second.pagination.total]).toEqual([[urlOf(middle)], 3]);
    expect((await client().listResources({ offset: 3 })).items).toEqual([]);
  });

  it('has terms that can be paid, and metadata that facilitators keep', async () => {
    const { items } = await client().listResources();
    const { chain } = h.ctx;
    for (const [index, amount] of ['2000', '50000', '1250000'].entries()) {
      const { accepts, type, lastUpdated, serviceName, tags, extensions } = items[index] as (typeof items)[number];
      const terms = { network: chain.caip2, amount, asset: chain.token, payTo: chain.wallet };
      expect(accepts).toEqual([
        expect.objectContaining({ scheme: 'exact', ...terms }),
        expect.objectContaining({ scheme: 'batch-settlement', ...terms }),
      ]);
      expect([type, Number.isNaN(Date.parse(lastUpdated))]).toEqual(['http', false]);
      expect(serviceName === undefined || isValidServiceName(serviceName)).toBe(true);
      expect(sanitizeTags(tags)).toEqual(tags);
      // biome-ignore lint/suspicious/noExplicitAny: an extension as it came
      const bazaar = extensions?.bazaar as any;
      expect([validateDiscoveryExtension(bazaar), validateDiscoveryExtensionSpec(bazaar)]).toEqual([
        { valid: true },
        { valid: true },
      ]);
    }
  });

  it('filters by type, payee, scheme, network and extension', async () => {
    const { wallet, caip2, name } = h.ctx.chain;
    const list = async (filter: object) => (await client().listResources(filter)).pagination.total;
    for (const filter of [
      { type: 'http' },
      { payTo: wallet },
      { scheme: 'exact' },
      { scheme: 'batch-settlement' },
      { network: caip2 },
      { network: name },
      { extensions: 'bazaar' },
    ])
      expect([filter, await list(filter)]).toEqual([filter, 3]);
    for (const filter of [
      { type: 'mcp' },
      { payTo: cheap.id },
      { scheme: 'upto' },
      { network: 'eip155:1' },
      { extensions: 'bazaar,x' },
    ])
      expect([filter, await list(filter)]).toEqual([filter, 0]);
  });

  it('searches by words and capabilities, the best match first', async () => {
    const looms = await client().search({ query: 'a dear loom' });
    expect(resourcesOf(looms.resources)).toEqual([dear, middle].map(urlOf));
    expect([looms.partialResults, looms.pagination]).toEqual([false, { limit: 20, cursor: null }]);
    const first = await client().search({ query: 'a dear loom', limit: 1 });
    expect([resourcesOf(first.resources), first.partialResults]).toEqual([[urlOf(dear)], true]);
    const weavers = await client().search({ query: 'weaving' });
    expect(new Set(resourcesOf(weavers.resources))).toEqual(new Set([cheap, middle].map(urlOf)));
    // A free agent takes nobody's place.
    const two = await client().search({ query: 'weaving', limit: 2 });
    expect(new Set(resourcesOf(two.resources))).toEqual(new Set([cheap, middle].map(urlOf)));
    expect((await client().search({ query: 'nobodyhasthis' })).resources).toEqual([]);
  });
});

it('lists and searches read no agent from the database', async () => {
  await h.ctx.replica.fresh();
  const spy = vi.spyOn(h.ctx.db, 'query');
  expect((await get('/discovery/resources?limit=7')).body.items).toHaveLength(3);
  expect((await get('/discovery/search?query=loom&limit=7')).body.resources).toHaveLength(2);
  const texts = spy.mock.calls.map(([name, text]) => ({ name, text }));
  spy.mockRestore();
  // The checks of agents, and the question whether there is work, run at any time.
  const own = texts.filter(({ name }) => name !== 'take-due-agents' && name !== 'due-work');
  expect(own.filter(({ text }) => /\b(from|join) agent\b/.test(text)).map(({ name }) => name)).toEqual([]);
});

it.each([
  '/discovery/resources?limit=0',
  '/discovery/resources?limit=1001',
  '/discovery/resources?offset=-1',
  '/discovery/resources?offset=10001',
  '/discovery/resources?unknown=1',
  '/discovery/resources?limit=1&limit=2',
  '/discovery/search',
  '/discovery/search?query=',
  '/discovery/search?query=loom&cursor=made_up',
  `/discovery/search?query=${'x'.repeat(501)}`,
])('%s is refused', async (path) => {
  expectError(await get(path), 'VALIDATION_ERROR');
});

describe('the OpenAPI document of an agent', () => {
  it('has one call with a fixed price, an entity tag, and 304', async () => {
    const first = await get(`/agents/${middle.id}/openapi.json`);
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=15']);
    expect(Object.keys(first.body.paths)).toEqual([`/x402/${middle.id}`]);
    const { post } = first.body.paths[`/x402/${middle.id}`];
    expect([post.security, post['x-payment-info']]).toEqual([
      [],
      { price: { mode: 'fixed', currency: 'USD', amount: '0.05' }, protocols: [{ x402: {} }] },
    ]);
    const etag = first.headers.get('etag') ?? '';
    expect((await get(`/agents/${middle.id}/openapi.json`, { 'if-none-match': etag })).status).toBe(304);
    expectError(await get('/agents/agt_none/openapi.json'), 'NOT_FOUND');
  });

  it('is read by the stock discovery client', async () => {
    const found = await discoverOriginSchema({
      target: h.baseUrl,
      specificationOverrideUrl: `${h.baseUrl}/agents/${dear.id}/openapi.json`,
    });
    if (!found.found) throw new Error(found.message);
    expect(found.endpoints).toEqual([
      expect.objectContaining({ path: `/x402/${dear.id}`, method: 'POST', authMode: 'paid', protocols: ['x402'] }),
    ]);
    expect(found.endpoints[0]?.price).toContain('1.25');
  });
});

it('the stock discovery client finds the calls that are paid for, with the bounds of their price, and the guidance', async () => {
  const found = await discoverOriginSchema({ target: h.baseUrl, guidance: GuidanceMode.Always });
  if (!found.found) throw new Error(found.message);
  const paid = found.endpoints.filter(({ protocols }) => protocols?.includes('x402'));
  expect(paid.map(({ method, path, authMode }) => `${method} ${path} ${authMode}`).sort()).toEqual([
    'POST /invoke/auto apiKey+paid',
    'POST /invoke/{id} apiKey+paid',
    'POST /x402/{agentId} paid',
  ]);
  for (const { price } of paid) expect(price).toMatch(/0\.002.*1\.25/);
  expect(found.guidance).toContain('/x402/{agentId}');
  const { body } = await get('/openapi.json');
  expect(body['x-agentcash-guidance']).toEqual({ llmsTxtUrl: `${h.baseUrl}/llms.txt` });
});

it('terms say how the call is made, in a header below 8 KB also for the longest names and tasks', async () => {
  const body = { task: 'x'.repeat(100_000), fallback: true };
  const { status, headers } = await h.request('POST', `/x402/${cheap.id}`, { body });
  expect(status).toBe(402);
  const header = headers.get('payment-required') ?? '';
  expect(header.length).toBeLessThan(8192);
  const { bazaar } = JSON.parse(Buffer.from(header, 'base64').toString()).extensions;
  expect([validateDiscoveryExtension(bazaar), validateDiscoveryExtensionSpec(bazaar)]).toEqual([
    { valid: true },
    { valid: true },
  ]);
});

it('an agent tells where it is called', async () => {
  const { interfaces } = (await get(`/agents/${middle.id}`)).body.data;
  expect(interfaces).toMatchObject({
    invoke: `${h.baseUrl}/invoke/${middle.id}`,
    x402: urlOf(middle),
    mcp: `${h.baseUrl}/agents/${middle.id}/mcp`,
    openai: { baseUrl: `${h.baseUrl}/v1`, model: middle.id },
    openapi: `${h.baseUrl}/agents/${middle.id}/openapi.json`,
  });
  expect((await get(new URL(interfaces.openapi).pathname)).status).toBe(200);
});

it('a probe of an agent’s address gets terms of x402', async () => {
  const found = await checkEndpointSchema({ url: urlOf(middle), probe: true, sampleInputBody: { task: 'x' } });
  if (!found.found) throw new Error(found.message);
  expect(found.advisories.flatMap(({ paymentOptions = [] }) => paymentOptions)).not.toEqual([]);
});
