import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { until } from '../../../support/until.ts';
import { expectError } from '../support/expect-error.ts';
import { type Facts, naiveSearch, readFacts, type Search } from '../support/naive-search.ts';
import { capabilities, sortFields as fields, prices, searches, words } from '../support/random-searches.ts';

const COUNT = 120;

let h: Harness;
let owner: TestAccount;
let stranger: TestAccount;
let agents: Facts[];

const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
const search = (body: unknown) => h.request('POST', '/agents/search', { body });
const found = async (body: Search) => (await search(body)).body.data.agents.map(({ id }: { id: string }) => id);

beforeAll(async () => {
  h = await startHarness();
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
  agents = await readFacts(h.ctx.db);
});
afterAll(() => h.stop());

/** Their endpoints were tried, and will not be tried again: nothing but the test changes them. */
async function untilChecked(): Promise<void> {
  const open = `select from agent where checks_done = 0 limit 1`;
  await until(async () => (await h.ctx.db.pool.query(open)).rowCount === 0);
}

describe('a search', () => {
  it('gives what filtering and sorting every agent would give, by offset as by cursor', async () => {
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
    [{ query: { rates: { perHour: { max: -1 } } } }, 'query.rates.perHour.max'],
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
    expect(await found({ query: { text: '=text' } })).toEqual(await found({ query: { text: 'text' } }));
  });
});

describe('a search', () => {
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
      h.ctx.db.query('flip', `update agent set status = $2 where id = $1`, [id, status]);
    for (let round = 0; round < 4; round++)
      await Promise.all(ids.map((id) => flip(id, round % 2 === 0 ? 'online' : 'offline')));
    expect(await totals()).toMatchObject({ all: COUNT, online: 0 });
    await Promise.all(ids.map((id) => flip(id, 'online')));
    expect(await totals()).toMatchObject({ all: COUNT, online: COUNT });
  });
});
