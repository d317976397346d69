import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moveHome } from '../../../src/agents/search/list-remote-agents.ts';
import { insertAgents } from '../../network/nodes/support/insert-agents.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

let h: Harness;
let remote: string[];
const capabilities = ['text', 'images', 'audio', 'testing', 'c1', 'c2', 'nobody-has-this'];

beforeAll(async () => {
  h = await startHarness();
  const owner = await h.newAccount();
  const register = (index: number) =>
    h.request('POST', '/agents', {
      key: owner.key,
      body: {
        name: `${['Swift', 'Calm'][index % 2]} agent ${index}`,
        description: index % 7 === 0 ? 'Reads poems.' : '',
        capabilities: index % 3 === 0 ? ['text', 'images'] : index % 3 === 1 ? ['text'] : ['images', 'audio'],
        rates: { perRequest: ['0', '0.05', '0.050001', '1', '12.5'][index % 5] },
        endpoint: 'http://127.0.0.1:9/',
      },
    });
  await Promise.all(Array.from({ length: 60 }, (_, index) => register(index)));
  const nodes = ['node_a', 'node_b'];
  await h.ctx.db.query(
    'other-nodes',
    `insert into network_node (id, chain_id, token_id, base_url, label, version, wallet, account_id, status, next_check_at, joined_at, last_seen_at)
     select n, 1, ordinality, 'http://' || n, 'label of ' || n, '1', '0x', $2, 'online', now() + interval '1 day', now(), now() + interval '1 day'
       from unnest($1::text[]) with ordinality n`,
    [nodes, owner.accountId],
  );
  const ofNodes = await Promise.all(nodes.map((nodeId) => insertAgents(h, 13, { nodeId })));
  remote = ofNodes.flat();
  await h.ctx.db.query(
    'mix',
    `with numbered as (select id, row_number() over (order by id) as row from agent)
     update agent g set status = (array['online', 'offline'])[1 + (row % 2)], reputation = (row * 37) % 20 * 50, next_check_at = null,
            endpoint_proven_at = case when row % 4 = 0 then now() end
       from numbered n where n.id = g.id`,
  );
});
afterAll(() => h.stop());

type Filter = Readonly<Record<string, string | undefined>>;
const queryOf = (filter: Filter) =>
  new URLSearchParams(Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined));
const facetsOf = async (filter: Filter) => (await h.request('GET', `/agents/facets?${queryOf(filter)}`)).body.data;

/** How many a list has; the filters that only a search knows are asked there. */
async function listed({ verified, text, capability, any, all, home, maxPerHour, ...rest }: Filter): Promise<number> {
  const filter = { ...rest, capability };
  if ([verified, text, any, all, home, maxPerHour].every((each) => each === undefined))
    return (await h.request('GET', `/agents?limit=1&${queryOf(filter)}`)).body.data.total;
  const query = {
    ...(text === undefined ? {} : { text }),
    ...(verified === undefined ? {} : { verified: verified === 'true' }),
    ...(home === undefined ? {} : { home }),
    capabilities: {
      ...(any === undefined ? {} : { any: any.split(',') }),
      ...((capability ?? all) && { all: [all?.split(','), capability].flat().filter((each) => each !== undefined) }),
    },
    rates: {
      ...(rest.maxPrice === undefined ? {} : { perRequest: { max: rest.maxPrice } }),
      ...(maxPerHour === undefined ? {} : { perHour: { max: maxPerHour } }),
    },
    ...(rest.minReputation === undefined ? {} : { reputation: { min: Number(rest.minReputation) } }),
    ...(rest.status === undefined || rest.status === 'all' ? {} : { online: rest.status === 'online' }),
  };
  return (await h.request('POST', '/agents/search', { body: { query, limit: 1 } })).body.data.total;
}

const optional = (values: readonly string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const anyFilter = fc.record({
  capability: optional(capabilities),
  any: optional(['text,audio', 'images', 'nobody-has-this,text']),
  all: optional(['text,images', 'testing', 'audio']),
  home: optional(['this', 'node_a', 'node_c']),
  maxPerHour: optional(['0.05', '0.050001', '12']),
  maxPrice: optional(['0', '0.04', '0.05', '0.050001', '0.9', '12.5']),
  minReputation: optional(['0', '1', '320', '500', '951']),
  status: optional(['online', 'offline', 'all']),
  verified: optional(['true', 'false']),
  text: optional(['swift', 'agent', 'poems', 'poe', 'no such words', '!']),
});

/** Whatever the filter, each count is what listing gives with that value in place of the one asked for (of `all`: beside). */
async function expectCounts(filter: Filter) {
  const facets = await facetsOf(filter);
  expect(facets.total).toBe(await listed(filter));
  expect(facets.status).toEqual({
    online: await listed({ ...filter, status: 'online' }),
    offline: await listed({ ...filter, status: 'offline' }),
  });
  expect(facets.verified).toEqual({
    yes: await listed({ ...filter, verified: 'true' }),
    no: await listed({ ...filter, verified: 'false' }),
  });
  for (const capability of capabilities) {
    const { count = 0 } = facets.capabilities.find(({ value }: { value: string }) => value === capability) ?? {};
    expect(count, capability).toBe(await listed({ ...filter, capability, any: undefined }));
  }
  for (const [home, nodeId] of [
    ['this', null],
    ['node_a', 'node_a'],
    ['node_b', 'node_b'],
  ] as const) {
    const { count = 0 } = facets.locations.find((each: { nodeId: string | null }) => each.nodeId === nodeId) ?? {};
    expect(count, home).toBe(await listed({ ...filter, home }));
  }
}

describe('facets', () => {
  it('say what listing gives, for any filter', async () => {
    await fc.assert(fc.asyncProperty(anyFilter, expectCounts), { numRuns: 16 });
  });

  it('name the nodes that agents are at home at, and follow one that moves', async () => {
    const of = async () =>
      Object.fromEntries(
        (await facetsOf({})).locations.map((each: { nodeId: string | null; count: number }) => [
          each.nodeId,
          each.count,
        ]),
      );
    expect(await of()).toEqual({ null: 60, node_a: 13, node_b: 13 });
    expect((await facetsOf({})).locations).toContainEqual({ value: 'label of node_a', nodeId: 'node_a', count: 13 });
    await h.ctx.db.transaction((tx) => moveHome(tx, remote[0] as string, 'node_b'));
    expect(await of()).toEqual({ null: 60, node_a: 12, node_b: 14 });
  });

  it('are no more than 50 capabilities, most agents first', async () => {
    const { capabilities: found } = await facetsOf({});
    expect(found.length).toBeLessThanOrEqual(50);
    const counts = found.map(({ count }: { count: number }) => count);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
  });
});
