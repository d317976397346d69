import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions, walletByBooks } from '../support/books.ts';
import type { Harness, TestAccount } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { newClient } from '../support/treasury.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
});
afterEach(async () => {
  agent.behave(echo);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const body = { task: 'once' };
const invoke = (key: string, headers: Record<string, string> = {}, of: { id: string } = agent, what: object = body) =>
  h.request('POST', `/invoke/${of.id}`, { key, body: what, headers });

async function payer() {
  const { key } = await h.newAccount();
  return { key, wallet: await h.newWallet(1_000_000n) };
}

describe('a payment shown again', () => {
  it('of two authorizations for one offer takes the first; the second is never used and gets the same answer', async () => {
    const { key, wallet } = await payer();
    const unpaid = await invoke(key);
    const calls = agent.calls.length;
    const [first, second] = [await payV2(h, wallet, unpaid), await payV2(h, wallet, unpaid)];
    expect(first).not.toEqual(second);
    const paid = await invoke(key, first);
    const again = await invoke(key, second);
    expect([paid.status, again.status]).toEqual([200, 200]);
    expect(again.body.data).toEqual(paid.body.data);
    expect(agent.calls.length - calls).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('of eight authorizations at once for one offer takes one', async () => {
    const { key, wallet } = await payer();
    const unpaid = await invoke(key);
    const calls = agent.calls.length;
    const payments = await Promise.all(Array.from({ length: 8 }, () => payV2(h, wallet, unpaid)));
    const answers = await Promise.all(payments.map((headers) => invoke(key, headers)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(answers.map((each) => each.body.data.requestId)).size).toBe(1);
    expect(agent.calls.length - calls).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it.each([
    ['v2', payV2],
    ['v1', payV1],
  ])('by eight of %s at once, while the node is busy with others, is one run', async (_version, pay) => {
    const { key, wallet } = await payer();
    const busy = await newClient(h, '1.00');
    const headers = await pay(h, wallet, await invoke(key));
    const others = Array.from({ length: 20 }, () => invoke(busy.key));
    const answers = await Promise.all(Array.from({ length: 8 }, () => invoke(key, headers)));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(answers.map((each) => each.body.data.requestId)).size).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('while the agent works waits for that run, and a wallet that held no more than the price is no obstacle', async () => {
    const { key } = await payer();
    const wallet = await h.newWallet(50_000n);
    const gate = Promise.withResolvers<void>();
    agent.behave(async (request, response) => {
      await gate.promise;
      await echo(request, response);
    });
    const headers = await payV2(h, wallet, await invoke(key));
    const calls = agent.calls.length;
    const first = invoke(key, headers);
    while (agent.calls.length === calls) await new Promise((resolve) => setImmediate(resolve));
    const second = invoke(key, headers);
    gate.resolve();
    expect((await second).body.data).toEqual((await first).body.data);
    expect((await invoke(key, headers)).body.data).toEqual((await first).body.data);
    expect(agent.calls.length - calls).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(0n);
  });

  it('with another body, for another agent or by another account is a conflict, and nothing runs', async () => {
    const { key, wallet } = await payer();
    const other = await startTestAgent(h, { perRequest: '0.05' });
    for (const pay of [payV1, payV2]) {
      const headers = await pay(h, wallet, await invoke(key));
      expect((await invoke(key, headers)).status).toBe(200);
      const calls = agent.calls.length;
      expect((await invoke(key, headers, agent, { task: 'twice' })).body.error?.code).toBe('CONFLICT');
      expect((await invoke(key, headers, other)).body.error?.code).toBe('CONFLICT');
      expect((await invoke((await h.newAccount()).key, headers)).body.error?.code).toBe('CONFLICT');
      expect([agent.calls.length - calls, other.calls.length]).toEqual([0, 0]);
    }
    expect(await h.usdcOf(wallet.address)).toBe(900_000n);
    await other.die();
  });

  it('for an offer with a request that a treasury has paid under its Idempotency-Key is a conflict, and is not collected', async () => {
    const { key } = await newClient(h, '1.00');
    const wallet = await h.newWallet(1_000_000n);
    const named = { 'idempotency-key': 'paid-otherwise' };
    const unpaid = await invoke(key, { ...named, 'x-payment-method': 'x402' });
    const calls = agent.calls.length;
    const made = await invoke(key, { ...named, 'x-payment-method': 'treasury', 'x-sync': 'true' });
    expect([made.status, made.body.data.requestId]).toEqual([200, unpaid.body.error.payment.memo]);
    const answer = await invoke(key, await payV2(h, wallet, unpaid));
    expect([answer.status, answer.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(agent.calls.length - calls).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  });

  it('still gets its result when the agent has gone', async () => {
    const { key, wallet } = await payer();
    const leaving = await startTestAgent(h, { owner, perRequest: '0.05' });
    const headers = await payV2(h, wallet, await invoke(key, {}, leaving));
    const paid = await invoke(key, headers, leaving);
    expect((await h.request('DELETE', `/agents/${leaving.id}`, { key: owner.key })).status).toBe(200);
    expect((await invoke(key, {}, leaving)).status).toBe(404);
    expect((await invoke(key, headers, leaving)).body.data).toEqual(paid.body.data);
    await leaving.die();
  });
});

describe('a price that changes after the 402', () => {
  it('leaves the offer as it was: the amount asked for is the amount paid, within maxCost', async () => {
    const { key, wallet } = await payer();
    const repriced = await startTestAgent(h, { owner, perRequest: '0.05' });
    const capped = { ...body, maxCost: '0.06' };
    const unpaid = await invoke(key, {}, repriced, capped);
    const reprice = { key: owner.key, body: { rates: { perRequest: '0.50' } } };
    expect((await h.request('PUT', `/agents/${repriced.id}`, reprice)).status).toBe(200);
    const paid = await invoke(key, await payV2(h, wallet, unpaid), repriced, capped);
    expect(paid.body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
    await repriced.die();
  });

  it('never charges more than maxCost, even with an offer of a dearer time', async () => {
    const { key, wallet } = await payer();
    const repriced = await startTestAgent(h, { owner, perRequest: '0.50' });
    const unpaid = await invoke(key, {}, repriced);
    const reprice = { key: owner.key, body: { rates: { perRequest: '0.05' } } };
    expect((await h.request('PUT', `/agents/${repriced.id}`, reprice)).status).toBe(200);
    const capped = { ...body, maxCost: '0.10' };
    expect((await invoke(key, await payV2(h, wallet, unpaid), repriced, capped)).status).toBe(400);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
    expect(repriced.calls.length).toBe(0);
    await repriced.die();
  });
});
