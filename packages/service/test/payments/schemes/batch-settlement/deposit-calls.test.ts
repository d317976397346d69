import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { encodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { WaitLimits } from '../../../../src/lib/concurrency/mutex.ts';
import { expectError } from '../../../http/api/support/expect-error.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { sendAs } from '../../../support/chain-actions.ts';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newVoucherPayer, requiredBy, settledBy, type VoucherPayer } from '../../../support/voucher-payer.ts';

const PRICE = 50_000n;
const DEPOSIT = 200_000n;
let h: Harness;
let agent: TestAgent;
let account: TestAccount;
beforeAll(async () => {
  h = await startHarness({
    env: { CHANNELS: 'true', CHANNEL_MIN_DEPOSIT: '0.2', KEYLESS_INVOCATIONS_PER_HOUR: '1' },
  });
  agent = await startTestAgent(h, { perRequest: '0.05' });
  account = await h.newAccount();
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const post = (headers: Record<string, string> = {}): Promise<Answer> =>
  h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task: 'deposit' }, headers });
const keyless = (headers: Record<string, string> = {}): Promise<Answer> =>
  h.request('POST', `/x402/${agent.id}`, { body: { task: 'deposit' }, headers });
/** A payer whose wallet holds USDC on the chain. */
async function richPayer(usdcMicro = 1_000_000n): Promise<VoucherPayer> {
  const payer = newVoucherPayer(h);
  const mint = encodeFunctionData({
    abi: testUsdcAbi,
    functionName: 'mint',
    args: [payer.config.payer as Hex, usdcMicro],
  });
  await sendAs(h.rpcUrl, payer.config.payer, h.ctx.chain.token, mint);
  return payer;
}
const rowOf = async (payer: VoucherPayer) =>
  (
    await askDatabase<Record<string, string>>(
      h.databaseUrl,
      'select balance_micro, charged_micro, reserved_micro from channel where id = $1',
      [payer.channelId],
    )
  )[0];

describe('a deposit with a voucher', () => {
  it('opens the channel and pays the call; the answer names the transaction', async () => {
    const payer = await richPayer();
    const paid = await post(payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) }));
    expect(paid.body.data.status).toBe('completed');
    expect(settledBy(paid)).toMatchObject({
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      amount: '200000',
      extra: { chargedAmount: '50000', channelState: { balance: '200000', chargedCumulativeAmount: '50000' } },
    });
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - DEPOSIT);
    expect(await rowOf(payer)).toEqual({ balance_micro: '200000', charged_micro: '50000', reserved_micro: '0' });
  });

  it('pays a call without a key by a wallet that the node has never seen', async () => {
    const payer = await richPayer();
    const headers = payer.pay(await keyless(), PRICE, { payload: await payer.deposit(DEPOSIT) });
    const answers = await Promise.all([keyless(headers), keyless(headers)]);
    expect(answers.map(({ body }) => body.data?.status)).toEqual(['completed', 'completed']);
    expect(await rowOf(payer)).toEqual({ balance_micro: '200000', charged_micro: '50000', reserved_micro: '0' });
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - DEPOSIT);
  });

  it('is refused if the wallet has used up its calls, or its account is suspended', async () => {
    const payer = await richPayer();
    const pay = async (by: VoucherPayer) =>
      keyless(by.pay(await keyless(), PRICE, { payload: await by.deposit(DEPOSIT) }));
    const payAnew = () => pay(newVoucherPayer(h, { key: payer.key }));
    expect((await pay(payer)).body.data.status).toBe('completed');
    expectError(await payAnew(), 'RATE_LIMITED');
    const suspend = 'update account set suspended_at = now() where address = $1';
    await askDatabase(h.databaseUrl, suspend, [payer.config.payer]);
    expectError(await payAnew(), 'FORBIDDEN');
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - DEPOSIT);
  });

  it('is counted as a call although the call is refused after it', async () => {
    const payer = await richPayer();
    const { key } = await h.newAccount({ plan: 'free' });
    const limited = { name: 'limited', scopes: ['invoke'], limits: { perDay: '0.05' } };
    const { apiKey } = (await h.request('POST', '/account/keys', { key, body: limited })).body.data;
    const call = (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${agent.id}`, { key: apiKey, body: { task: 'deposit' }, headers });
    const pay = async (by: VoucherPayer) => {
      const unpaid = await call();
      const paid = await call(by.pay(unpaid, PRICE, { payload: await by.deposit(DEPOSIT) }));
      const [left, leftThen] = [unpaid, paid].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
      return { paid, counted: Number(left) - Number(leftThen) };
    };
    expect(await pay(payer)).toMatchObject({ paid: { status: 200 }, counted: 1 });
    const { paid, counted } = await pay(newVoucherPayer(h, { key: payer.key }));
    expectError(paid, 'SPENDING_LIMIT_EXCEEDED');
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - 2n * DEPOSIT);
    expect(counted).toBe(1);
  });

  it('that is not confirmed in time is counted once, with the repetition that gets the call', async () => {
    const payer = await richPayer();
    const headers = payer.pay(await keyless(), PRICE, { payload: await payer.deposit(DEPOSIT) });
    const settle = h.ctx.settler.settle;
    using _slow = vi.spyOn(h.ctx.settler, 'settle').mockImplementationOnce(async (payment) => {
      await settle(payment);
      return { state: 'unknown', transactionHash: null };
    });
    expectError(await keyless(headers), 'PAYMENT_PENDING');
    expect((await keyless(headers)).body.data.status).toBe('completed');
    expectError(await keyless(payer.pay(await keyless(), 2n * PRICE)), 'RATE_LIMITED');
  });

  it('shown three times at once, and once more later, is one deposit, one run and one charge', async () => {
    const payer = await richPayer();
    const headers = payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) });
    const before = agent.calls.length;
    const answers = [...(await Promise.all([post(headers), post(headers), post(headers)])), await post(headers)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.data.requestId)).size).toBe(1);
    expect(agent.calls.length - before).toBe(1);
    expect(await rowOf(payer)).toEqual({ balance_micro: '200000', charged_micro: '50000', reserved_micro: '0' });
  });

  it('signed again after a lost answer is not collected twice: the channel covers the call', async () => {
    const payer = await richPayer();
    const [first, second] = [await payer.deposit(DEPOSIT), await payer.deposit(DEPOSIT)];
    await post(payer.pay(await post(), PRICE, { payload: first }));
    const again = await post(payer.pay(await post(), 2n * PRICE, { payload: second }));
    expect(again.body.data.status).toBe('completed');
    expect(settledBy(again)).toMatchObject({
      transaction: '',
      amount: '',
      extra: { channelState: { balance: '200000' } },
    });
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - DEPOSIT);
    expect(await rowOf(payer)).toEqual({ balance_micro: '200000', charged_micro: '100000', reserved_micro: '0' });
  });

  it('of two first calls that come to two processes at once, one is taken', async () => {
    const payer = await richPayer();
    const headers = await Promise.all(
      [1, 2].map(async () => payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) })),
    );
    // The line of deposits is of one process: another one knows nothing of it.
    vi.spyOn(h.ctx.channels.deposits, 'acquireWithin').mockResolvedValue(() => undefined);
    const { simulate } = h.ctx.simulator;
    const areBothJudged = Promise.withResolvers<void>();
    const judging = vi.spyOn(h.ctx.simulator, 'simulate').mockImplementation(async (payment) => {
      if (judging.mock.calls.length === 2) areBothJudged.resolve();
      await areBothJudged.promise;
      return simulate(payment);
    });
    const answers = await Promise.all(headers.map((each) => post(each))).finally(() => vi.restoreAllMocks());
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402]);
    expect(await rowOf(payer)).toEqual({ balance_micro: '200000', charged_micro: '50000', reserved_micro: '0' });
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - DEPOSIT);
  });

  it('is not taken while the books are behind the chain, which has an earlier one', async () => {
    const payer = await richPayer(DEPOSIT);
    await post(payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) }));
    await h.ctx.db.query('', 'update channel set balance_micro = $2, read_block = 0 where id = $1', [
      payer.channelId,
      PRICE,
    ]);
    const paid = await post(payer.pay(await post(), 2n * PRICE, { payload: await payer.deposit(DEPOSIT) }));
    expect(paid.status).toBe(200);
    expect(await rowOf(payer)).toEqual({ balance_micro: '200000', charged_micro: '100000', reserved_micro: '0' });
  });

  it('is not taken while the channel cannot be read as of an earlier one that has settled', async () => {
    const payer = await richPayer();
    await post(payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) }));
    const again = payer.pay(await post(), 2n * PRICE, { payload: await payer.deposit(DEPOSIT) });
    const away = vi.spyOn(h.ctx.settlementContract, 'readChannels').mockRejectedValue(new Error('no answer'));
    // After that: the follower of the chain would read the channel, too.
    await h.ctx.db.query('', 'update channel set balance_micro = $2, read_block = 0 where id = $1', [
      payer.channelId,
      PRICE,
    ]);
    expectError(await post(again).finally(() => away.mockRestore()), 'PAYMENT_PENDING');
    expect((await post(again)).status).toBe(200);
    expect(await rowOf(payer)).toEqual({ balance_micro: '200000', charged_micro: '100000', reserved_micro: '0' });
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - DEPOSIT);
  });

  it('does not wait in line for longer than its limit: the same payload is good once the line has moved on', async () => {
    const payer = await richPayer();
    const { deposits } = h.ctx.channels;
    const leave = await deposits.acquire(payer.channelId);
    const { acquireWithin } = deposits;
    const limits: WaitLimits[] = [];
    vi.spyOn(deposits, 'acquireWithin').mockImplementation((key, asked) => {
      limits.push(asked);
      return acquireWithin(key, { ...asked, timeoutMs: 1 });
    });
    const headers = payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) });
    const late = await post(headers).finally(() => vi.restoreAllMocks());
    expectError(late, 'PAYMENT_PENDING');
    expect(limits).toEqual([{ timeoutMs: 25_000, maxWaiting: 256 }]);
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n);
    leave();
    expect((await post(headers)).body.data.status).toBe('completed');
    expect(await rowOf(payer)).toEqual({ balance_micro: '200000', charged_micro: '50000', reserved_micro: '0' });
  });

  it('tops a channel up that does not cover the call', async () => {
    const payer = await richPayer();
    await post(payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) }));
    for (const calls of [2n, 3n, 4n]) await post(payer.pay(await post(), calls * PRICE));
    const topUp = await post(payer.pay(await post(), 5n * PRICE, { payload: await payer.deposit(DEPOSIT) }));
    expect(settledBy(topUp)).toMatchObject({ amount: '200000', extra: { channelState: { balance: '400000' } } });
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - 2n * DEPOSIT);
  });

  it('with a stale sum is corrected before it is taken', async () => {
    const payer = await richPayer();
    await post(payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) }));
    const stale = await post(payer.pay(await post(), PRICE, { payload: await payer.deposit(DEPOSIT) }));
    expect(stale.status).toBe(402);
    expect(requiredBy(stale)).toMatchObject({
      error: 'invalid_batch_settlement_evm_cumulative_amount_mismatch',
      accepts: [{}, { extra: { channelState: { chargedCumulativeAmount: '50000' } } }],
    });
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n - DEPOSIT);
  });
});
