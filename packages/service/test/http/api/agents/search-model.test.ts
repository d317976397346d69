import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findAgentRows } from '../../../../src/agents/agent-store.ts';
import { toListItem } from '../../../../src/agents/agent-view.ts';
import { createMeaning } from '../../../../src/agents/meaning/meaning.ts';
import { createListing, type Listing } from '../../../../src/agents/search/listing.ts';
import { searchAgents } from '../../../../src/agents/search/search-agents.ts';
import { AppError } from '../../../../src/lib/app-error.ts';
import { createMetrics } from '../../../../src/lib/metrics.ts';
import { createSecrets } from '../../../../src/lib/secrets.ts';
import { silentLog as log } from '../../../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../../../src/store/database.ts';
import { isRolledBack } from '../../../../src/store/database-away.ts';
import { createReplica } from '../../../../src/store/replica/replica.ts';
import type { Tx } from '../../../../src/store/sql.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/test-database.ts';
import { type Facts, naiveSearch, readFacts } from '../support/naive-search.ts';
import { capabilities, prices, searches, words } from '../support/random-searches.ts';

const nodeLabel = 'here';
const ACCOUNTS = ['acc_a', 'acc_b', 'acc_c'];
const NODES = ['node_a', 'node_b'];
const MAX_AGENTS = 60;
/** So many refreshes that brought changes are compared. */
const REFRESHES = 100;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { log });
  await db.pool.query(
    `insert into account (id, address, plan, created_at) select a, '0x' || repeat(n::text, 40), 'free', now()
       from unnest($1::text[]) with ordinality as x(a, n)`,
    [ACCOUNTS],
  );
  await db.pool.query(
    `insert into network_node (id, chain_id, token_id, base_url, label, version, wallet, account_id, status, next_check_at, joined_at, last_seen_at)
     select n, 1, nth, 'http://' || n, n, '1', '0x', 'acc_a', 'online', now(), now(), now() from unnest($1::text[]) with ordinality as x(n, nth)`,
    [NODES],
  );
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const agentIds = Array.from({ length: MAX_AGENTS }, (_, n) => `agt_${String(n).padStart(3, '0')}`);
const fields = fc.record({
  name: fc.subarray(words, { minLength: 1 }).map((some) => some.join(' ')),
  description: fc.subarray(words, { maxLength: 3 }).map((some) => `${some.join(', ')}.`),
  capabilities: fc.subarray(capabilities, { minLength: 1 }),
  per_request_micro: fc.constantFrom(0, 49_999, 50_000, 50_001, 1_000_000, 12_500_000),
  per_hour_micro: fc.constantFrom(...prices.map((price) => Math.round(Number(price) * 1e6))),
  metadata: fc.subarray(words, { maxLength: 2 }).map((tags) => JSON.stringify({ tags })),
  status: fc.constantFrom('online', 'online', 'offline', 'pending_verification', 'removed'),
  reputation: fc.integer({ min: 0, max: 5 }).map((hundreds) => hundreds * 100),
  endpoint_proven_at: fc.option(fc.constant('2026-01-01')),
  frozen_at: fc.option(fc.constant('2026-01-01'), { freq: 5 }),
  response_ms: fc.option(fc.constantFrom(10, 20.5, 30)),
  account_id: fc.constantFrom(...ACCOUNTS),
});
const changes = fc.oneof(
  { weight: 6, arbitrary: fc.record({ agent: fc.constantFrom(...agentIds), to: fields }) },
  {
    weight: 3,
    arbitrary: fc.record({ agent: fc.constantFrom(...agentIds), to: fc.record({ response_ms: fc.nat(9) }) }),
  },
  { weight: 1, arbitrary: fc.record({ account: fc.constantFrom(...ACCOUNTS), isProven: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ node: fc.constantFrom(...NODES), label: fc.constantFrom('x', 'y', 'z') }) },
);
const transactions = fc.record({
  changes: fc.array(changes, { minLength: 1, maxLength: 4 }),
  isUndone: fc.boolean(),
  takesMs: fc.constantFrom(0, 0, 0, 30),
});

type Change = typeof changes extends fc.Arbitrary<infer T> ? T : never;

async function apply(tx: Tx, change: Change): Promise<void> {
  if ('account' in change)
    await tx.query('', 'update account set wallet_proven_at = $2 where id = $1', [
      change.account,
      change.isProven ? new Date() : null,
    ]);
  else if ('node' in change)
    await tx.query('', 'update network_node set label = $2 where id = $1', [change.node, change.label]);
  else {
    const names = Object.keys(change.to);
    const sets = names.map((name, index) => `${name} = $${index + 2}`);
    await tx.query('', `update agent set ${sets.join(', ')} where id = $1`, [
      change.agent,
      ...Object.values(change.to),
    ]);
  }
}

/** Every third agent is at home at another node. */
async function insertAgent(tx: Tx, id: string): Promise<void> {
  const home = Number(id.slice(-3)) % 3 === 0 ? (NODES[Number(id.slice(-3)) % 2] ?? null) : null;
  await tx.query(
    '',
    `insert into agent (id, account_id, home_node, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers,
       endpoint, metadata, status, reputation, token_hash, token_sealed, last_seen_at, created_at, updated_at)
     values ($1, 'acc_a', $2, '0x', 'Alpha', '', '{text}', 0, 0, '{}', 'http://x', '{}', 'online', 400,
       case when $2::text is null then convert_to($1::text, 'utf8') end, case when $2::text is null then ''::bytea end, now(), date_trunc('second', now()), now())
     on conflict do nothing`,
    [id, home],
  );
  await tx.query('', 'insert into agent_totals (agent_id) values ($1) on conflict do nothing', [id]);
}

interface Truth {
  readonly facts: readonly Facts[];
  readonly items: ReadonlyMap<string, unknown>;
}

/** The listing of a process, with what the snapshot of its last refresh says. */
async function follow(): Promise<{ listing: Listing; truth(): Truth; stop(): void }> {
  const replica = createReplica({ db, log, metrics: createMetrics() }, { maxAgeMs: 0 });
  const inner = createListing({ replica, nodeLabel, model: null });
  let last: Truth = { facts: [], items: new Map() };
  let asked: Truth = last;
  replica.add({
    topics: ['agent', 'account', 'node'],
    async load() {},
    async read(sql) {
      const facts = await readFacts(sql);
      const agents = await findAgentRows(
        sql,
        facts.map(({ id }) => id),
      );
      const items = new Map(agents.map((agent) => [agent.id, toListItem(agent, nodeLabel)]));
      const told = () => {
        last = { facts, items };
      };
      return [told];
    },
  });
  await replica.start();
  const read: Listing['read'] = (ask) =>
    inner.read((index, position) => {
      asked = last;
      return ask(index, position);
    });
  return { listing: { ...inner, read }, truth: () => asked, stop: () => replica.stop() };
}

/** On a busy machine a refresh may take longer than a search waits: it is refused, and asks again. */
async function untilKnown<T>(search: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await search();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') throw error;
    }
  }
}

it('a search finds the agents that the database has, at every refresh, whatever changes, rolls back or takes long', async () => {
  const process = await follow();
  const { listing } = process;
  const ctx = { listing, meaning: createMeaning({ listing, log }, null), secrets: createSecrets('x'.repeat(32)) };
  for (const id of agentIds) await db.transaction((tx) => insertAgent(tx, id));
  let isOver = false;
  const undo = new Error('as meant');
  const run = (work: (tx: Tx) => Promise<void>) =>
    db.transaction(work).catch((error: unknown) => {
      // Of two transactions that wait for each other, one is undone by the server.
      if (error !== undo && !isRolledBack(error)) throw error;
    });
  const writing = [1, 2, 3, 4].map(async (writer) => {
    const drawn = fc.sample(transactions, { numRuns: 2000, seed: writer });
    for (const { changes, isUndone, takesMs } of drawn) {
      if (isOver) return;
      await run(async (tx) => {
        for (const change of changes) await apply(tx, change);
        if (takesMs > 0) await tx.query('', 'select pg_sleep($1)', [takesMs / 1000]);
        if (isUndone) throw undo;
      });
    }
  });
  let refreshes = 0;
  let differing = 0;
  let seen: Truth | null = null;
  const bodies = fc.sample(searches, { numRuns: 250, seed: 3 });
  for (let turn = 0; refreshes < REFRESHES || turn < bodies.length; turn++) {
    const body = bodies[turn % bodies.length] ?? {};
    const found = await untilKnown(() => searchAgents(ctx, AgentSearch.parse(body)));
    const { facts, items } = process.truth();
    if (seen !== process.truth()) refreshes += 1;
    seen = process.truth();
    const wanted = naiveSearch(facts, body).map(({ id }) => id);
    differing += wanted.length > 0 && wanted.length < facts.length ? 1 : 0;
    expect(found.total, JSON.stringify(body)).toBe(wanted.length);
    expect(found.agents.value).toEqual(wanted.slice(0, body.limit ?? 20).map((id) => items.get(id)));
  }
  isOver = true;
  await Promise.all(writing);
  process.stop();
  // Otherwise the test would prove nothing.
  expect(differing).toBeGreaterThan(40);
});
