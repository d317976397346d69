import { afterAll, beforeAll, expect, it } from 'vitest';
import { askDatabase } from '../support/books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { untilSo } from '../support/network.ts';
import { lockAccount } from '../support/row-lock.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { newClient, untilEnded } from '../support/treasury.ts';

const DAY_MS = 86_400_000;

let aheadMs = 0;
const clock = { now: () => new Date(Date.now() + aheadMs) };
/** Puts the node's clock this long after the coming midnight (UTC). */
const setAfterMidnight = (ms: number) => {
  const nowMs = Date.now();
  aheadMs = DAY_MS - (nowMs % DAY_MS) + ms;
};

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness({ clock });
  agent = await startTestAgent(h, { perRequest: '0.05', behaviour: answerWith(500, { error: 'no' }) });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

it('what a call does not cost goes back to the day that was charged, also when midnight passes while it is accepted', async () => {
  const client = await newClient(h, '1.00');
  const body = { name: 'x', scopes: ['invoke', 'payments:read'], limits: { perDay: '0.10' } };
  const { apiKey } = (await h.request('POST', '/account/keys', { key: client.key, body })).body.data;
  setAfterMidnight(-5000);
  const lock = await lockAccount(h.databaseUrl, client.treasuryId);
  const started = h.request('POST', `/invoke/${agent.id}`, { key: apiKey, body: { task: 'x' } });
  await untilSo('it waits', async () => h.ctx.runner.knownIds().length > 0);
  setAfterMidnight(1000);
  await lock.release();
  const { requestId } = (await started).body.data;
  expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'failed' });
  const spent = `select day::text, spent_micro::text as spent from key_spending where spent_micro <> 0`;
  expect(await askDatabase(h.databaseUrl, spent)).toEqual([]);
});
