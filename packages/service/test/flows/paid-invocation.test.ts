import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { until } from '../support/until.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

describe('a call paid by x402', () => {
  it.each([
    ['v2', payV2],
    ['v1', payV1],
  ])('%s: the exact price leaves the wallet and the result comes back with the transaction', async (_version, pay) => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const path = `/invoke/${agent.id}`;
    const unpaid = await h.request('POST', path, { key, body: { task: 'hello' } });
    expect(unpaid.status).toBe(402);
    const headers = await pay(h, wallet, unpaid);
    const paid = await h.request('POST', path, { key, body: { task: 'hello' }, headers });
    expect(paid.body).toMatchObject({
      status: 'success',
      data: { status: 'completed', result: { echo: 'hello' }, cost: '0.05', refund: '0.00' },
    });
    expect(paid.body.data.paymentHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('the same payment sent 8 times at once is one run, one transfer and eight answers with one request id', async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const path = `/invoke/${agent.id}`;
    const before = agent.calls.length;
    for (const pay of [payV2, payV1]) {
      const unpaid = await h.request('POST', path, { key, body: { task: 'once' } });
      const headers = await pay(h, wallet, unpaid);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => h.request('POST', path, { key, body: { task: 'once' }, headers })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(new Set(answers.map(({ body }) => body.data.requestId)).size).toBe(1);
    }
    expect(agent.calls.length - before).toBe(2);
    expect(await h.usdcOf(wallet.address)).toBe(900_000n);
  });

  it('a failed call is refunded to the paying wallet on chain', async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const unpaid = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' } });
    const headers = await payV2(h, wallet, unpaid);
    const paid = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers });
    expect(paid.body.data).toMatchObject({
      status: 'failed',
      cost: '0.00',
      refund: '0.05',
      error: { code: 'agent_error', message: expect.stringContaining('no luck') },
    });
    await until(async () => (await h.usdcOf(wallet.address)) === 1_000_000n);
  });
});
