import { parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { until } from '../../../support/until.ts';
import { expectError } from '../support/expect-error.ts';

interface Item {
  id: string;
  capabilities: string[];
  rates: { perRequest: string };
  reputation: number;
  status: string;
}

let h: Harness;
let all: Item[];
const COUNT = 230;

/** Agents of every mix of capability, price, status and reputation, put where registering, probing and calls would put them. */
beforeAll(async () => {
  h = await startHarness();
  const owner = await h.newAccount();
  const register = (index: number) =>
    h.request('POST', '/agents', {
      key: owner.key,
      body: {
        name: `Agent ${index}`,
        capabilities: index % 3 === 0 ? ['text', 'images'] : index % 3 === 1 ? ['text'] : ['images', 'audio'],
        rates: { perRequest: ['0', '0.05', '0.050001', '1', '12.5'][index % 5] },
        endpoint: 'http://127.0.0.1:9/',
      },
    });
  for (let at = 0; at < COUNT; at += 46)
    await Promise.all(Array.from({ length: 46 }, (_, index) => register(at + index)));
  // The first try to prove each endpoint is made in the background, and writes what is set here.
  const untried = async () => (await h.ctx.db.pool.query('select 1 from agent where checks_done = 0 limit 1')).rowCount;
  await until(async () => (await untried()) === 0);
  const statuses = `(array['online', 'offline', 'pending_verification'])[1 + (row % 3)]`;
  await h.ctx.db.pool.query(
    `with numbered as (select id, row_number() over (order by id) as row from agent)
     update agent g set status = ${statuses}, reputation = (row * 37) % 20 * 50, next_check_at = null from numbered n where n.id = g.id`,
  );
  all = await listAll('', 100);
});
afterAll(() => h.stop());

const list = (query: string) => h.request('GET', `/agents?${query}`);

async function listAll(filter: string, limit: number): Promise<Item[]> {
  const found: Item[] = [];
  for (let offset = 0; ; offset += limit) {
    const { data } = (await list(`${filter}&limit=${limit}&offset=${offset}`.replace(/^&/, ''))).body;
    found.push(...data.agents);
    expect(data.hasMore).toBe(offset + data.agents.length < data.total);
    if (!data.hasMore) {
      expect(found).toHaveLength(data.total);
      return found;
    }
  }
}

async function listAllByCursor(filter: string, limit: number): Promise<Item[]> {
  const found: Item[] = [];
  let cursor = '';
  for (;;) {
    const { data } = (await list(`${filter}&limit=${limit}${cursor}`.replace(/^&/, ''))).body;
    found.push(...data.agents);
    expect(data.nextCursor === null).toBe(!data.hasMore);
    if (!data.hasMore) {
      expect(found).toHaveLength(data.total);
      return found;
    }
    cursor = `&cursor=${encodeURIComponent(data.nextCursor)}`;
  }
}

const inOrder = (items: readonly Item[]) =>
  [...items].sort((a, b) => b.reputation - a.reputation || (a.id < b.id ? -1 : 1)).map(({ id }) => id);

const capabilities = [undefined, 'text', 'images', 'audio', 'TEXT', 'nobody-has-this'];
const prices = [undefined, '0', '0.05', '0.050001', '999999'];
const reputations = [undefined, '0', '450', '451', '1000'];
const statuses = [undefined, 'online', 'offline', 'all'];
const combinations = capabilities.flatMap((capability) =>
  prices.flatMap((maxPrice) =>
    reputations.flatMap((minReputation) => statuses.map((status) => ({ capability, maxPrice, minReputation, status }))),
  ),
);

describe('every combination of filters', () => {
  it.each(capabilities)('with capability %s finds exactly the agents that match, best first', async (capability) => {
    for (const filter of combinations.filter((each) => each.capability === capability)) {
      const given = Object.entries(filter).filter(([, value]) => value !== undefined) as [string, string][];
      const { data } = (await list(`${new URLSearchParams(given)}&limit=100`.replace(/^&/, ''))).body;
      const matching = all.filter(
        (item) =>
          (filter.capability === undefined || item.capabilities.includes(filter.capability.toLowerCase())) &&
          (filter.maxPrice === undefined || parseUsdc(item.rates.perRequest) <= parseUsdc(filter.maxPrice)) &&
          (filter.minReputation === undefined || item.reputation >= Number(filter.minReputation)) &&
          (filter.status === undefined || filter.status === 'all' || item.status === filter.status),
      );
      const found = data.agents.map(({ id }: Item) => id);
      expect({ filter, total: data.total, found }).toEqual({
        filter,
        total: matching.length,
        found: inOrder(matching).slice(0, 100),
      });
      expect(data.hasMore).toBe(matching.length > 100);
    }
  });
});

it('a least reputation between two points finds what a search by the same finds', async () => {
  const min = 437.5;
  const search = { query: { reputation: { min } }, limit: 100 };
  const found = (await h.request('POST', '/agents/search', { body: search })).body.data;
  const { agents, total } = (await list(`minReputation=${min}&limit=100`)).body.data;
  expect(total).toBe(all.filter(({ reputation }) => reputation >= min).length);
  expect({ agents, total }).toEqual({ agents: found.agents, total: found.total });
});

describe('pages', () => {
  it('hold every agent once, in one order, by offset and by cursor, whatever their size', async () => {
    expect(all).toHaveLength(COUNT);
    expect(new Set(all.map(({ id }) => id)).size).toBe(COUNT);
    expect(all.map(({ id }) => id)).toEqual(inOrder(all));
    for (const limit of [7, 46, 100]) {
      expect(await listAll('', limit)).toEqual(all);
      expect(await listAllByCursor('', limit)).toEqual(all);
    }
    const filter = 'capability=text&status=online&minReputation=300';
    expect(await listAllByCursor(filter, 3)).toEqual(await listAll(filter, 100));
  });

  it('are of 20 unless said otherwise, and end with an empty one', async () => {
    const { data } = (await h.request('GET', '/agents')).body;
    expect(data.agents).toEqual(all.slice(0, 20));
    expect(data).toMatchObject({ total: COUNT, hasMore: true });
    expect((await list(`offset=${COUNT}`)).body.data).toEqual({
      agents: [],
      total: COUNT,
      hasMore: false,
      nextCursor: null,
    });
    expect((await list('offset=10000')).body.data).toMatchObject({ agents: [], total: COUNT, hasMore: false });
    expect((await list(`limit=1&offset=${COUNT - 1}`)).body.data).toMatchObject({
      agents: [all.at(-1)],
      hasMore: false,
    });
  });

  it('by cursor repeat and skip no agent when one in between is removed', async () => {
    const first = (await list('limit=10')).body.data;
    await h.ctx.db.pool.query(`update agent set status = 'removed' where id = $1`, [first.agents.at(-1).id]);
    const next = (await list(`limit=10&cursor=${first.nextCursor}`)).body.data;
    expect(next.agents).toEqual(all.slice(10, 20));
    expect(next.total).toBe(COUNT - 1);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['offset=10001', 'offset'],
    ['minReputation=1000.1', 'minReputation'],
    ['minReputation=1e2', 'minReputation'],
    ['maxPrice=0.0000001', 'maxPrice'],
    ['maxPrice=1e3', 'maxPrice'],
    ['status=pending_verification', 'status'],
    ['status=ONLINE', 'status'],
    ['capability=a%20b', 'capability'],
    ['cursor=x', 'cursor'],
    ['cursor=MTAw', 'cursor'],
    ['cursor=OTk5OS4lMDA', 'cursor'],
    ['offset=0&cursor=MTAwLmFndF8x', 'cursor'],
  ])('%s is refused', async (query, field) => expectError(await list(query), 'VALIDATION_ERROR', field));
});
