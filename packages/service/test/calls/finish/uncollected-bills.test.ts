import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { settleBills } from '../../../src/calls/finish/settle-bills.ts';
import { createTill } from '../../support/billing-agent.ts';
import { contradictions } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';

const DAY_MS = 86_400_000;

let h: Harness;
let agent: TestAgent;
let client: Client;
let offsetMs = 0;
beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + offsetMs) } });
  [agent, client] = await Promise.all([startTestAgent(h, { perRequest: '0.05' }), newClient(h, '1.00')]);
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await findMoneyContradictions(h.ctx)).toEqual([]);
  await agent.die();
  await h.stop();
});

it('a bill that goes back to the payer uncollected goes back to the daily budget of the key', async () => {
  // The next noon, so that the bill ends on the day of its request; the deposit was signed by the machine's clock.
  const toNoonMs = (new Date().setUTCHours(12, 0, 0, 0) - Date.now() + DAY_MS) % DAY_MS;
  offsetMs = toNoonMs;
  const limited = { name: 'limited', scopes: ['invoke', 'payments:read'], limits: { perDay: '0.06' } };
  const { apiKey } = (await h.request('POST', '/account/keys', { key: client.key, body: limited })).body.data;
  const invoke = () =>
    h.request('POST', `/invoke/${agent.id}`, { key: apiKey, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
  const refuse = answerWith(500, { error: { message: 'no' } });
  agent.behave(createTill(h).bill({ collects: 'never', work: refuse }));
  expect((await invoke()).body.data).toMatchObject({ status: 'failed', cost: '0.03' });
  expect((await invoke()).body.error.details).toMatchObject({ limit: 'perDay', allowed: '0.03' });
  offsetMs = toNoonMs + 400_000;
  const headS = Number(
    (await callChain<{ timestamp: string }>(h.rpcUrl, 'eth_getBlockByNumber', 'latest', false)).timestamp,
  );
  const ahead = Math.max(0, Math.ceil(h.ctx.clock.now().getTime() / 1000) - headS) + 400;
  await callChain(h.rpcUrl, 'evm_increaseTime', ahead);
  await callChain(h.rpcUrl, 'evm_mine');
  await settleBills(h.ctx);
  agent.behave(answerWith(200, { result: 1 }));
  expect((await invoke()).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
});
