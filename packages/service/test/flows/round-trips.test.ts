import { setTimeout as delay } from 'node:timers/promises';
import { parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { type Answer, type Harness, startHarness, type TestWallet } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { type Client, newClient } from '../support/treasury.ts';
import { newVoucherPayer, type VoucherPayer } from '../support/voucher-payer.ts';
import { createWireLog, type WireCounts } from '../support/wire-log.ts';
import { payV2 } from '../support/x402-payer.ts';

/** Of the node's copies. With its own 20 ms, a call that a busy machine makes slowly would find them too old again, in its midst. */
const AGE_MS = 500;

const wire = createWireLog();
let database: TestDatabase;
let proxy: DatabaseProxy;
let h: Harness;
let agent: TestAgent;
let client: Client;
let wallet: TestWallet;
let voucherPayer: VoucherPayer;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.url, wire);
  h = await startHarness({ env: { DATABASE_URL: proxy.url, CHANNELS: 'true' }, maxAgeMs: AGE_MS });
  agent = await startTestAgent(h, { perRequest: '0.05' });
  client = await newClient(h, '100.00');
  wallet = await h.newWallet(parseUsdc('100.00'));
  voucherPayer = newVoucherPayer(h);
  await voucherPayer.fund(parseUsdc('100.00'));
});
afterAll(async () => {
  expect(await contradictions(database.url)).toEqual([]);
  await agent.die();
  await h.stop();
  await proxy.stop();
  await database.drop();
});

let keys = 0;
let spentMicro = 0n;
const invoke =
  (headers: Record<string, string> = {}) =>
  () =>
    h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: 'hello' },
      headers: { 'x-sync': 'true', ...headers },
    });
const unpaid = invoke({ 'x-payment-method': 'x402' });
const nextSum = () => {
  spentMicro += parseUsdc('0.05');
  return spentMicro;
};

/** How a call is prepared, by the way that it is paid. */
const ways: Record<string, () => Promise<() => Promise<Answer>>> = {
  treasury: async () => invoke(),
  'treasury, with an Idempotency-Key': async () => invoke({ 'idempotency-key': `key-${++keys}` }),
  exact: async () => invoke(await payV2(h, wallet, await unpaid())),
  voucher: async () => invoke(voucherPayer.pay(await unpaid(), nextSum())),
};

const MAX_TRIES = 100;

/** What the node asks by itself each second, whatever is called: whether recurring jobs have work, and whether the listening connection lives. */
const OWN_WORK = new Set(['due-work', 'select 1']);

function countsOfTheCall({ trips, commits, sent }: WireCounts): WireCounts {
  const ofTheCall = sent.filter((trip) => !trip.every(({ name }) => OWN_WORK.has(name)));
  return { trips: trips - (sent.length - ofTheCall.length), commits, sent: ofTheCall };
}

/** The least of several tries, the first that is within the limit: the node's own work adds to some of them, and takes off from none. */
async function countOf(way: string, limit: { readonly trips: number }): Promise<WireCounts> {
  let least: WireCounts | null = null;
  for (let tries = 0; tries < MAX_TRIES && (least === null || least.trips > limit.trips); tries++) {
    const call = await (ways[way] as (typeof ways)[string])();
    // A lone call finds copies that are too old to answer from.
    await delay(AGE_MS + 5);
    wire.reset();
    expect((await call()).status).toBe(200);
    const each = countsOfTheCall(wire.counts());
    if (least === null || each.trips + each.commits < least.trips + least.commits) least = each;
  }
  return least as WireCounts;
}

const tell = ({ sent }: WireCounts) =>
  sent.map((trip, index) => `${index + 1}: ${trip.map(({ name }) => name).join(', ')}`).join('\n');

/** Statements of the transactions that a call commits in one round trip. */
const statementsOf = ({ sent }: WireCounts) =>
  sent.filter((trip) => trip[0]?.name === 'begin' && trip.at(-1)?.name === 'commit').flat().length;

it.each([
  ['treasury', { trips: 3, commits: 2, statements: 18 }],
  ['treasury, with an Idempotency-Key', { trips: 3, commits: 2, statements: 20 }],
  ['exact', { trips: 13, commits: 3, statements: 21 }],
  ['voucher', { trips: 4, commits: 2, statements: 24 }],
])('a lone call takes at most so many round trips and statements, and so many commits: %s %o', async (way, limit) => {
  const counts = await countOf(way, limit);
  expect(counts.trips, tell(counts)).toBeLessThanOrEqual(limit.trips);
  expect(counts.commits, tell(counts)).toBe(limit.commits);
  expect(statementsOf(counts), tell(counts)).toBe(limit.statements);
});
