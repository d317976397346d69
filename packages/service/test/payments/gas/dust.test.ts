import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../../http/api/support/expect-error.ts';
import { contradictions, suspenseOf } from '../../support/books.ts';
import { type Answer, type Harness, startHarness, type TestWallet } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, newClient, untilUsdc } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { gasOfDoing } from './support/gas-meter.ts';

/** More than one payment takes that goes alone. */
const GAS_OF_PAYMENT = 100_000;

let h: Harness;
const agents: TestAgent[] = [];
const newAgent = async (perRequest: string) => {
  const agent = await startTestAgent(h, { perRequest });
  agents.push(agent);
  return agent;
};
beforeAll(async () => {
  const limits = { MIN_PAYMENT: '0.001', MIN_DEPOSIT: '0.01', MIN_WITHDRAWAL: '0.01', MIN_REFUND: '0.01' };
  h = await startHarness({ env: { ...limits, REFUNDS_PER_DAY: '2', WITHDRAWALS_PER_DAY: '3' } });
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await expect.poll(async () => (await h.ctx.reserves.read()).status).toBe('balanced');
});
afterAll(async () => {
  for (const agent of agents) await agent.die();
  await h.stop();
});

const invoke = (agent: TestAgent, key: string, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true', ...headers } });
const payFor = async (agent: TestAgent, key: string, wallet: TestWallet): Promise<Answer> =>
  invoke(agent, key, await payV2(h, wallet, await invoke(agent, key)));
const times = <T>(count: number, act: (turn: number) => Promise<T>) =>
  Array.from({ length: count }).reduce<Promise<T[]>>(
    async (before, _, turn) => [...(await before), await act(turn)],
    Promise.resolve([]),
  );
const history = async (key: string) => (await h.request('GET', '/payments/history', { key })).body.data.payments;

describe('calls of one’s own failing agent', () => {
  it('for dust cost the node their payment and no refund on chain; the money is the payer’s here, once', async () => {
    const agent = await newAgent('0.005');
    agent.behave(answerWith(500, {}));
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(25_000n);
    const used = await gasOfDoing(h, async () => {
      for (const { body } of await times(5, () => payFor(agent, key, wallet)))
        expect(body.data).toMatchObject({ status: 'failed', refund: '0.005' });
    });
    expect(used).toBeLessThan(5 * GAS_OF_PAYMENT);
    expect(await h.usdcOf(wallet.address)).toBe(0n);
    expect(await suspenseOf(h.ctx, wallet.address.toLowerCase())).toBe(25_000n);
    const refunds = (await history(key)).filter(({ type }: { type: string }) => type === 'refund');
    expect(refunds).toHaveLength(5);
    expect(refunds[0]).toMatchObject({ amount: '0.005', status: 'confirmed', transactionHash: null });
  });

  it('are credited to the treasury of the account that the wallet belongs to, which can spend it', async () => {
    const agent = await newAgent('0.005');
    agent.behave(answerWith(500, {}));
    const wallet = await h.newWallet(5000n);
    const { accountId, key } = await h.newAccount();
    await h.ctx.db.query(
      'test-own-wallet',
      'insert into account_wallet (address, account_id, proven_at) values ($1, $2, now())',
      [wallet.address.toLowerCase(), accountId],
    );
    await payFor(agent, key, wallet);
    expect(await balanceOf(h, key)).toEqual({ available: '0.005', held: '0.00' });
  });

  it('for more are sent their refunds on chain, as often a day as the limit says; then they are credited', async () => {
    const agent = await newAgent('0.02');
    agent.behave(answerWith(500, {}));
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(100_000n);
    const used = await gasOfDoing(h, async () => {
      await times(5, () => payFor(agent, key, wallet));
      expect(await untilUsdc(h, wallet.address, 40_000n)).toBe(40_000n);
    });
    expect(await suspenseOf(h.ctx, wallet.address.toLowerCase())).toBe(60_000n);
    expect(used).toBeLessThan((5 + 2) * GAS_OF_PAYMENT);
  });
});

it('a price below the minimum is paid from a treasury, not on chain; the terms say what the least is', async () => {
  const [cheap, dear] = [await newAgent('0.000999'), await newAgent('0.001')];
  const { key } = await h.newAccount();
  const refused = await invoke(cheap, key);
  expectError(refused, 'INSUFFICIENT_FUNDS');
  expect(refused.body.error.message).toContain('below 0.001 USDC are paid from a treasury');
  const unpaid = await invoke(dear, key);
  expect(unpaid.body.accepts[0].extra.minAmount).toBe('0.001');
  const signed = await payV2(h, await h.newWallet(), unpaid);
  expectError(await invoke(cheap, key, signed), 'INSUFFICIENT_FUNDS');
  const client = await newClient(h, '0.01');
  expectError(await invoke(cheap, client.key, { 'x-payment-method': 'x402' }), 'VALIDATION_ERROR', 'X-Payment-Method');
  expectError(await invoke(cheap, client.key, signed), 'VALIDATION_ERROR', 'PAYMENT-SIGNATURE');
  for (const { body } of await times(10, () => invoke(cheap, client.key)))
    expect(body.data).toMatchObject({ status: 'completed', cost: '0.000999' });
  const spent = await invoke(cheap, client.key, { 'x-payment-method': 'x402' });
  expectError(spent, 'INSUFFICIENT_FUNDS');
  expect(spent.body.error.details).toEqual({ required: '0.000999', available: '0.00001' });
});

it('deposits and withdrawals below the minimum, and more withdrawals than a day has, are refused and cost no gas', async () => {
  const client = await newClient(h, '1');
  const { key, treasuryId } = client;
  const used = await gasOfDoing(h, async () => {
    const deposit = await h.request('POST', '/payments/treasury/deposit', {
      key,
      body: { amount: '0.009', treasuryId },
    });
    expectError(deposit, 'VALIDATION_ERROR', 'amount');
    const withdraw = (amount: string) => h.request('POST', '/payments/withdraw', { key, body: { amount } });
    expectError(await withdraw('0.009999'), 'VALIDATION_ERROR', 'amount');
    expect((await times(5, () => withdraw('0.01'))).map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  });
  expect(used).toBeLessThan(3 * GAS_OF_PAYMENT);
  expect(await balanceOf(h, key)).toEqual({ available: '0.97', held: '0.00' });
});

it('withdrawals that come together are no more than a day has', async () => {
  const { key } = await newClient(h, '1');
  const withdraw = () => h.request('POST', '/payments/withdraw', { key, body: { amount: '0.01' } });
  const answers = await Promise.all(Array.from({ length: 8 }, withdraw));
  const refused = answers.filter(({ status }) => status !== 200);
  for (const answer of refused) {
    expectError(answer, 'RATE_LIMITED');
    // The first of a day ago makes room for the next.
    expect(answer.body.error.details.retryAfterS).toBeGreaterThan(86_000);
  }
  expect(refused).toHaveLength(5);
  expect(await balanceOf(h, key)).toEqual({ available: '0.97', held: '0.00' });
});
