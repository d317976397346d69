import { afterAll, beforeAll, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const invoke = (key: string, name: string, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'x' },
    headers: { 'x-sync': 'true', 'idempotency-key': name, ...headers },
  });
/** As after a refusal that a repetition may escape, and after a day. */
const freeKey = (name: string) => h.ctx.db.query('free', 'delete from idempotency where key = $1', [name]);

it('a repetition without its payment gets the call that was paid, though its key was freed meanwhile', async () => {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const paid = await invoke(key, 'freed', await payV2(h, wallet, await invoke(key, 'freed')));
  expect(paid.status).toBe(200);
  await freeKey('freed');
  const again = await invoke(key, 'freed');
  expect([again.status, again.body.data?.requestId]).toEqual([200, paid.body.data.requestId]);
  expect(await h.usdcOf(wallet.address)).toBe(950_000n);
});

it('a key that is used again after a day buys a new call, by a payment for that one', async () => {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const first = await invoke(key, 'reused', await payV2(h, wallet, await invoke(key, 'reused')));
  const { requestId } = first.body.data;
  await freeKey('reused');
  await h.ctx.db.query('age', `update invocation set created_at = created_at - interval '25 hours' where id = $1`, [
    requestId,
  ]);
  const second = await invoke(key, 'reused', await payV2(h, wallet, await invoke(key, 'reused')));
  expect(second.status).toBe(200);
  expect(second.body.data.requestId).not.toBe(requestId);
  expect(await h.usdcOf(wallet.address)).toBe(900_000n);
});
