import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldCounts } from '../../../src/agents/reputation/fold-counts.ts';
import { bestReputationFirst } from '../../../src/agents/search/index/search-order.ts';
import { foldToggles, writeListing } from '../../../src/agents/search/listing-store.ts';
import { searchAgents } from '../../../src/agents/search/search-agents.ts';
import { countByBits, planByBits, readBitsPage } from '../../../src/agents/search/search-bits-store.ts';
import { headOf } from '../../../src/agents/search/search-levels.ts';
import { type SearchCosts, usualCosts } from '../../../src/agents/search/search-way.ts';
import type { Sql, Tx } from '../../../src/db/sql.ts';
import { until } from '../../../src/lib/until.ts';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { relist } from '../../support/relist.ts';
import { expectError } from '../support/expect-error.ts';
import { type Facts, naiveSearch, type Search } from '../support/naive-search.ts';

const COUNT = 120;
const capabilities = ['text', 'images', 'audio', 'video', 'gpt-4', 'rare'];
const words = ['Alpha', 'beta', 'Gamma', 'delta', 'übersetzer', 'translate', 'translator', '翻訳'];
const prices = ['0', '0.05', '0.050001', '1', '12.5'];

let h: Harness;
let owner: TestAccount;
let stranger: TestAccount;
let agents: Facts[];

const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
const search = (body: unknown) => h.request('POST', '/agents/search', { body });
const found = async (body: Search) => (await search(body)).body.data.agents.map(({ id }: { id: string }) => id);

beforeAll(async () => {
  h = await startHarness();
  // So that agents stand in two blocks of bits.
  await h.ctx.db.pool.query('alter table agent_search alter column slot restart with 65500');
  [owner, stranger] = [await h.newAccount(), await h.newAccount({ isWalletProven: false })];
  const random = fc.sample(
    fc.record({
      name: fc.subarray(words, { minLength: 1 }),
      tags: fc.subarray(words, { maxLength: 2 }),
      description: fc.subarray(words, { maxLength: 3 }),
      capabilities: fc.subarray(capabilities.slice(0, -1), { minLength: 1 }),
      perRequest: fc.constantFrom(...prices),
      perHour: fc.constantFrom(...prices),
      isOnline: fc.boolean(),
      isProven: fc.boolean(),
      isMine: fc.boolean(),
      reputation: fc.integer({ min: 0, max: 5 }),
      responseMs: fc.option(fc.constantFrom(10, 20.5, 30)),
    }),
    { numRuns: COUNT, seed: 7 },
  );
  const ids: string[] = [];
  for (const [index, each] of random.entries()) {
    const { body } = await h.request('POST', '/agents', {
      key: (each.isMine ? owner : stranger).key,
      body: {
        name: each.name.join(' '),
        description: `${each.description.join(', ')}.`,
        capabilities: index % 40 === 0 ? [...each.capabilities, 'rare'] : each.capabilities,
        rates: { perRequest: each.perRequest, perHour: each.perHour },
        endpoint: 'http://127.0.0.1:9/',
        metadata: { tags: each.tags },
      },
    });
    ids.push(body.data.id);
  }
  await untilChecked();
  for (const [index, each] of random.entries()) {
    await h.ctx.db.pool.query(
      `update agent set status = $2, reputation = $3, endpoint_proven_at = $4, response_ms = $5, created_at = $6, next_check_at = null where id = $1`,
      [
        ids[index],
        each.isOnline ? 'online' : pick(['offline', 'pending_verification'], index),
        each.reputation * 100,
        each.isProven ? new Date() : null,
        each.responseMs,
        new Date(Date.UTC(2026, 0, 1 + (index % 20))),
      ],
    );
  }
  await relist(h);
  agents = await readFacts(h.ctx.db);
});
afterAll(() => h.stop());

/** Their endpoints were tried, and will not be tried again: nothing but the test changes them. */
async function untilChecked(): Promise<void> {
  const open = `select from agent where checks_done = 0 limit 1`;
  const done = await until(async () => ((await h.ctx.db.pool.query(open)).rowCount === 0 ? true : null), {
    timeoutMs: 20_000,
    firstMs: 5,
    mostMs: 100,
  });
  expect(done).toBe(true);
}

/** With these, each way to a page is taken wherever there is one. */
const extremeCosts: readonly SearchCosts[] = [
  { gathering: 0, gatheringOne: 0, head: -1e9, few: 0, spare: 1.5, least: 0 },
  { gathering: 0, gatheringOne: 0, head: -1e9, few: 0, spare: 0, least: 0 },
  { gathering: 0, gatheringOne: 0, head: 1e9, few: 0, spare: 1, least: 0 },
  { gathering: 1e9, gatheringOne: 0, head: 1e9, few: 1e9, spare: 1, least: 0 },
];

/** Runs in a transaction whose changes nobody else ever sees. */
async function inUndone(act: (tx: Tx) => Promise<void>): Promise<void> {
  const undo = new Error('as meant');
  const done = h.ctx.db.transaction(async (tx) => {
    await act(tx);
    throw undo;
  });
  await done.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
}

/** Searches inside a transaction find what filtering and sorting every agent would give. */
async function expectNaive(tx: Tx, bodies: readonly Search[], costs = usualCosts): Promise<void> {
  const db = { ...h.ctx.db, query: tx.query, transaction: <T>(fn: (inside: Tx) => Promise<T>) => fn(tx) };
  const facts = await readFacts(tx);
  for (const body of bodies) {
    const wanted = naiveSearch(facts, body).map(({ id }) => id);
    const found = await searchAgents({ ...h.ctx, db }, AgentSearch.parse(body), costs);
    expect(found.total).toBe(wanted.length);
    expect(found.agents.map(({ id }) => id)).toEqual(wanted.slice(0, body.limit ?? 20));
  }
}

async function readFacts(sql: Sql): Promise<Facts[]> {
  // biome-ignore lint/suspicious/noExplicitAny: a row as it is stored
  const rows = await sql.query<any>(
    '',
    `select g.*, a.wallet_proven_at is not null and g.endpoint_proven_at is not null as verified
       from agent g join account a on a.id = g.account_id where g.status <> 'removed'`,
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.metadata.tags ?? [],
    capabilities: row.capabilities,
    perRequestMicro: row.per_request_micro,
    perHourMicro: row.per_hour_micro,
    reputation: row.reputation,
    isOnline: row.status === 'online',
    isVerified: row.verified,
    responseMs: row.response_ms ?? Number.POSITIVE_INFINITY,
    createdAtMs: row.created_at.getTime(),
  }));
}

const fields = [
  'reputation',
  'rates.perRequest',
  'rates.perHour',
  'responseTime',
  'name',
  'createdAt',
  'relevance',
] as const;
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someCapabilities = fc.subarray([...capabilities, 'nobody'], { minLength: 1, maxLength: 3 });
const searches: fc.Arbitrary<Search> = fc.record({
  query: fc
    .record({
      capabilities: maybe(fc.record({ any: maybe(someCapabilities), all: maybe(someCapabilities) })),
      text: maybe(
        fc.constantFrom('beta', 'TRANSLATE', 'trans', 'alpha delta', 'gamma üb', 'be', '翻訳', 'nothing', '?!'),
      ),
      rates: maybe(
        fc.record({
          perRequest: maybe(fc.record({ max: fc.constantFrom(...prices) })),
          perHour: maybe(fc.record({ max: fc.constantFrom(...prices) })),
        }),
      ),
      reputation: maybe(fc.record({ min: fc.constantFrom(0, 100, 250.5, 500, 1000) })),
      verified: maybe(fc.boolean()),
      online: maybe(fc.boolean()),
    })
    .map((query) => JSON.parse(JSON.stringify(query))),
  sort: fc.uniqueArray(
    fc.record({ field: fc.constantFrom(...fields), order: fc.constantFrom('asc' as const, 'desc' as const) }),
    {
      selector: ({ field }) => field,
      maxLength: 3,
    },
  ),
  limit: fc.constantFrom(1, 2, 7, 20, 100),
});

describe('a search', () => {
  it('gives what filtering and sorting every agent would give, by offset as by cursor', {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(searches, fc.nat({ max: 30 }), async (body, offset) => {
        const wanted = naiveSearch(agents, body).map(({ id }) => id);
        const limit = body.limit ?? 20;
        const { status, body: answer } = await search({ ...body, offset });
        expect(status).toBe(200);
        expect(answer.data.agents.map(({ id }: { id: string }) => id)).toEqual(wanted.slice(offset, offset + limit));
        expect(answer.data).toMatchObject({ total: wanted.length, hasMore: offset + limit < wanted.length });
        const paged: string[] = [];
        let cursor: string | null = null;
        do {
          const { data: page }: Answer['body'] = (
            await search({ ...body, limit: Math.max(limit, 7), ...(cursor ? { cursor } : {}) })
          ).body;
          paged.push(...page.agents.map(({ id }: { id: string }) => id));
          expect(page.total).toBe(wanted.length);
          cursor = page.nextCursor;
          expect(cursor !== null).toBe(page.hasMore);
        } while (cursor);
        expect(paged).toEqual(wanted);
      }),
      { numRuns: 300, seed: 11 },
    );
  });

  it('is exact while many agents have changed since the sets were written', { timeout: 60_000 }, async () => {
    const change = fc.record({
      index: fc.nat({ max: COUNT - 1 }),
      status: fc.constantFrom('online', 'offline', 'removed'),
      reputation: fc.integer({ min: 0, max: 1000 }),
      priceMicro: fc.constantFrom(0n, 49_999n, 50_000n, 50_001n, 50_100n, 1_000_000n, 12_500_000n),
    });
    const draw = fc.tuple(
      fc.uniqueArray(change, { selector: ({ index }) => index, minLength: 20, maxLength: 60 }),
      fc.array(searches, { minLength: 12, maxLength: 24 }),
    );
    for (const [changes, bodies] of fc.sample(draw, { numRuns: 6, seed: 5 })) {
      await inUndone(async (tx) => {
        for (const { index, status, reputation, priceMicro } of changes) {
          const id = agents[index]?.id ?? '';
          await tx.query(
            'alter',
            `update agent set status = $2, reputation = $3, per_request_micro = $4, per_hour_micro = $4 where id = $1`,
            [id, status, reputation, priceMicro],
          );
          await writeListing(tx, { id });
        }
        await expectNaive(tx, bodies);
        while ((await foldToggles(tx, 7)) > 0);
        for (const costs of [usualCosts, ...extremeCosts]) await expectNaive(tx, bodies, costs);
      });
    }
  });

  it('finds the same however it looks: in order, until there are enough, or by gathering all', async () => {
    const filter = {
      isOnline: [true, false],
      isVerified: [true, false],
      minReputation: 0,
      maxPriceMicro: 1_000_000n,
      maxPerHourMicro: null,
    };
    const asked = { bits: [{ term: 'beta' }], terms: "'beta'", inTitle: '', inName: '', filter };
    const wish = {
      ...asked,
      order: bestReputationFirst,
      relevance: null,
      groups: [],
      head: null,
      limit: 100,
      offset: 0,
    };
    await h.ctx.db.transaction(async (tx) => {
      await planByBits(tx);
      const gathered = await readBitsPage(tx, { ...wish, walk: null, after: null });
      expect(gathered.length).toBe((await countByBits(tx, asked, []))[0]);
      expect(gathered.length).toBeGreaterThan(10);
      for (const walk of [{ capability: '' }, null]) {
        expect(await readBitsPage(tx, { ...wish, walk, after: null })).toEqual(gathered);
        expect(await readBitsPage(tx, { ...wish, walk, after: gathered[1]?.place ?? null })).toEqual(gathered.slice(2));
        expect(await readBitsPage(tx, { ...wish, walk, after: null, offset: 3, limit: 5 })).toEqual(
          gathered.slice(3, 8),
        );
      }
      const reputations = gathered.map(({ reputation }) => reputation);
      for (const least of new Set(reputations)) {
        const head = headOf(bestReputationFirst, least);
        const first = gathered.filter(({ reputation }) => reputation >= least);
        expect(await readBitsPage(tx, { ...wish, walk: null, head, after: null })).toEqual(first);
        expect(await readBitsPage(tx, { ...wish, walk: null, head, after: null, offset: 2, limit: 3 })).toEqual(
          first.slice(2, 5),
        );
      }
      expect(new Set(reputations).size).toBeGreaterThan(3);
    });
  });

  it('backwards is the list reversed', async () => {
    for (const field of fields.filter((name) => name !== 'relevance')) {
      const up = await found({
        sort: [{ field, order: 'asc' }],
        limit: 100,
        query: { capabilities: { any: ['text'] } },
      });
      const down = await found({
        sort: [{ field, order: 'desc' }],
        limit: 100,
        query: { capabilities: { any: ['text'] } },
      });
      expect(up).toEqual(down.toReversed());
    }
  });

  it('echoes the query as it was understood, and says how long it took', async () => {
    const { data } = (await search({ query: { capabilities: { any: ['TEXT'] }, text: ' beta ' } })).body;
    expect(data.query).toEqual({ capabilities: { any: ['text'] }, text: 'beta' });
    expect(data.executionTime).toMatch(/^\d+(\.\d{1,3})?s$/);
    expect((await search({})).body.data).toMatchObject({ query: {}, total: COUNT, hasMore: true });
  });

  it('needs no key, and takes no bad one', async () => {
    expect((await h.request('POST', '/agents/search', { body: {}, key: owner.key })).status).toBe(200);
    expectError(await h.request('POST', '/agents/search', { body: {}, key: 'ank_test_x' }), 'UNAUTHORIZED');
  });

  it('by a cursor that was altered, or that is of another query or order, is refused', async () => {
    const body = { query: { online: true }, sort: [{ field: 'reputation', order: 'desc' }], limit: 5 };
    const { nextCursor: cursor } = (await search(body)).body.data;
    expect((await search({ ...body, cursor })).status).toBe(200);
    expect((await search({ ...body, limit: 6, cursor })).status).toBe(200);
    const foreign = [
      { ...body, cursor: `A${cursor.slice(1)}` },
      { ...body, cursor: `${cursor}x` },
      { ...body, cursor: 'nonsense' },
      { ...body, query: {}, cursor },
      { ...body, sort: [{ field: 'reputation', order: 'asc' }], cursor },
      { ...body, cursor, offset: 5 },
    ];
    for (const each of foreign) expectError(await search(each), 'VALIDATION_ERROR', 'cursor');
  });

  it.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 101 }, 'limit'],
    [{ limit: '5' }, 'limit'],
    [{ offset: -1 }, 'offset'],
    [{ offset: 10_001 }, 'offset'],
    [{ sort: [{ field: 'owner', order: 'asc' }] }, 'sort.0.field'],
    [{ sort: [{ field: 'name', order: 'up' }] }, 'sort.0.order'],
    [{ sort: [{ field: 'name' }, { field: 'name', order: 'asc' }] }, 'sort'],
    [{ query: { reputation: { min: -1 } } }, 'query.reputation.min'],
    [{ query: { reputation: { min: 1001 } } }, 'query.reputation.min'],
    [{ query: { rates: { perRequest: { max: '-1' } } } }, 'query.rates.perRequest.max'],
    [{ query: { rates: { perHour: { max: 1 } } } }, 'query.rates.perHour.max'],
    [{ query: { online: 'yes' } }, 'query.online'],
    [{ query: { text: ' ' } }, 'query.text'],
    [{ query: { text: 'x'.repeat(201) } }, 'query.text'],
    [{ query: { capabilities: { any: [] } } }, 'query.capabilities.any'],
    [{ query: { capabilities: { all: ["x' | 'y"] } } }, 'query.capabilities.all.0'],
    [
      { query: { capabilities: { all: Array.from({ length: 21 }, (_, index) => `c${index}`) } } },
      'query.capabilities.all',
    ],
    [{ cursor: 'x'.repeat(1001) }, 'cursor'],
  ])('refuses %j', async (body, path) => {
    expectError(await search(body), 'VALIDATION_ERROR', path);
  });

  it('takes every text for words, none for an instruction', async () => {
    for (const text of ["'", "a' | 'b", '!beta', 'beta:*', '\\', '(', '& |', '%', "beta');--", '\u200b', '😀', '='])
      expect((await search({ query: { text } })).status).toBe(200);
    expect(await found({ query: { text: '=text' } })).toEqual([]);
  });
});

describe('what agents are found by', () => {
  const totals = async () => {
    const one = async (query: object) => (await search({ query })).body.data.total as number;
    return {
      all: await one({}),
      online: await one({ online: true }),
      text: await one({ capabilities: { all: ['text'] } }),
    };
  };

  it('follows every change of an agent at once, counts included', async () => {
    const before = await totals();
    const { body } = await h.request('POST', '/agents', {
      key: owner.key,
      body: { name: 'Unheardof', capabilities: ['text'], rates: { perRequest: '3' }, endpoint: 'http://127.0.0.1:9/' },
    });
    const { id } = body.data;
    const put = (change: object) => h.request('PUT', `/agents/${id}`, { key: owner.key, body: change });
    expect(await totals()).toEqual({ ...before, all: before.all + 1, text: before.text + 1 });
    expect(await found({ query: { text: 'unheardof' } })).toEqual([id]);
    await put({ name: 'Renamed', capabilities: ['opera'], rates: { perRequest: '999' } });
    expect(await totals()).toEqual({ ...before, all: before.all + 1 });
    expect(await found({ query: { text: 'unheardof' } })).toEqual([]);
    expect(await found({ query: { text: 'renamed', capabilities: { any: ['opera'] } } })).toEqual([id]);
    expect(await found({ sort: [{ field: 'rates.perRequest', order: 'desc' }], limit: 1 })).toEqual([id]);
    await h.request('DELETE', `/agents/${id}`, { key: owner.key });
    expect(await totals()).toEqual(before);
    expect(await found({ query: { text: 'renamed' } })).toEqual([]);
  });

  it('counts exactly while many agents of one capability change at once', async () => {
    const ids = agents.map(({ id }) => id);
    const flip = (id: string, status: string) =>
      h.ctx.db.transaction(async (tx) => {
        await tx.query('flip', `update agent set status = $2 where id = $1`, [id, status]);
        await writeListing(tx, { id });
      });
    for (let round = 0; round < 4; round++)
      await Promise.all(ids.map((id) => flip(id, round % 2 === 0 ? 'online' : 'offline')));
    expect(await totals()).toMatchObject({ all: COUNT, online: 0 });
    await Promise.all(ids.map((id) => flip(id, 'online')));
    expect(await totals()).toMatchObject({ all: COUNT, online: COUNT });
    const { rows } = await h.ctx.db.pool.query(
      `select term, is_online, is_verified, sum(change)::int as total from agent_count group by 1, 2, 3 having sum(change) <> 0
       except select term, is_online, is_verified, count(*)::int from agent_search cross join unnest(tsvector_to_array(terms) || '{""}'::text[]) as term group by 1, 2, 3`,
    );
    expect(rows).toEqual([]);
  });

  it('is in the sets that it belongs to, and in no other, once they are up to date', async () => {
    await foldCounts(h.ctx);
    const { rows } = await h.ctx.db.pool.query(
      `with wanted as materialized (
         select slot, unnest(tsvector_to_array(terms) || agent_marks(is_online, is_verified, reputation, price_micro, per_hour_micro)) as term
           from agent_search
       )
       select (select count(*) from wanted)::int as wanted, (select sum(bit_count(coalesce(dense, sparse))) from agent_bits)::int as kept,
              (select count(*) from wanted w join agent_bits b on b.term = w.term and b.block = w.slot >> 16
                where get_bit(coalesce(b.dense, b.sparse), w.slot & 65535) = 1)::int as both`,
    );
    expect(rows[0].wanted).toBeGreaterThan(COUNT * 10);
    expect(rows[0]).toEqual({ wanted: rows[0].wanted, kept: rows[0].wanted, both: rows[0].wanted });
  });
});
