import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { silentLog as log } from '../../../src/lib/telemetry/log.ts';
import type { SeenTreasuries } from '../../../src/payments/ledger/ledger-services.ts';
import { createSeenTreasuries } from '../../../src/payments/ledger/treasury.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { type Heartbeat, startHeartbeat } from '../../../src/store/queue/heartbeat.ts';
import { createReplica, MAX_AGE_MS, type Replica } from '../../../src/store/replica/replica.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, deposit } from '../../support/treasury.ts';

let h: Harness;
let agent: TestAgent;
let db: Database;
let heartbeat: Heartbeat;
let replica: Replica;
let reading: NodeJS.Timeout;
/** What two processes of one node know: the first takes the requests. */
let processes: SeenTreasuries[];

beforeAll(async () => {
  h = await startHarness({ maxAgeMs: MAX_AGE_MS });
  agent = await startTestAgent(h, { perRequest: '0.05' });
  db = openDatabase(h.databaseUrl, { log });
  heartbeat = await startHeartbeat({ db, log }, { self: { label: 'second' } });
  replica = createReplica({ db, log, metrics: createMetrics() }, { maxAgeMs: MAX_AGE_MS });
  const second = createSeenTreasuries({ db, replica });
  await replica.start();
  // Both are busy: their copies are as old as they may get.
  reading = setInterval(() => void [h.ctx.replica.isFresh(), replica.isFresh()], 5);
  processes = [h.ctx.seenTreasuries, second];
});
afterAll(async () => {
  clearInterval(reading);
  replica.stop();
  await heartbeat.stop();
  await db.close();
  await agent.die();
  await h.stop();
});

const invoke = (key: string) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'hello' }, headers: { 'x-sync': 'true' } });

it("the absence of a treasury is known after an account's first call, so the next one without a payment reads nothing", async () => {
  const { key } = await h.newAccount();
  // Its key was written beside the node, and is read again when the change arrives.
  await h.ctx.replica.settleWrite();
  const asked: string[] = [];
  const query = h.ctx.db.query;
  const spy = vi.spyOn(h.ctx.db, 'query').mockImplementation((...statement) => {
    asked.push(statement[0]);
    return query(...statement) as never;
  });
  try {
    expect((await invoke(key)).status).toBe(402);
    expect(asked.filter((name) => name === 'find-treasury-ids')).toHaveLength(1);
    asked.length = 0;
    expect((await invoke(key)).status).toBe(402);
    for (const name of ['find-treasury-ids', 'find-treasury-of', 'find-api-keys']) expect(asked).not.toContain(name);
  } finally {
    spy.mockRestore();
  }
});

it('once the opening of a treasury is answered, every process pays from it, 20 times', async () => {
  for (let nth = 0; nth < 20; nth++) {
    const { key, accountId } = await h.newAccount();
    expect(await Promise.all(processes.map((process) => process.of(accountId)))).toEqual([null, null]);
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
    expect(await Promise.all(processes.map((process) => process.of(accountId)))).toEqual([treasuryId, treasuryId]);
  }
});

it('a call after the first deposit is paid by it', async () => {
  const { key } = await h.newAccount();
  expect((await invoke(key)).status).toBe(402);
  const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
  await deposit(h, key, treasuryId, '1.00');
  expect((await invoke(key)).body.data).toMatchObject({ status: 'completed', paymentMethod: 'treasury' });
  expect(await balanceOf(h, key)).toEqual({ available: '0.95', held: '0.00' });
});
