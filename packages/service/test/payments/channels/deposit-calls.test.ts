import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { encodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDatabase, contradictions } from '../../support/books.ts';
import { sendAs } from '../../support/chain-actions.ts';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { newVoucherPayer, requiredBy, settledBy, type VoucherPayer } from '../../support/voucher-payer.ts';

const PRICE = 50_000n;
const DEPOSIT = 200_000n;
let h: Harness;
let agent: TestAgent;
let account: TestAccount;
beforeAll(async () => {
  h = await startHarness({ env: { CHANNELS: 'true', CHANNEL_MIN_DEPOSIT: '0.2' } });
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

  it.each<[string, (payer: VoucherPayer) => Promise<object>, string]>([
    ['below the minimum', (p) => p.deposit(DEPOSIT - 1n), 'deposit_below_min_deposit'],
    ['of more than the wallet holds', (p) => p.deposit(2_000_000n), 'insufficient_balance'],
    ['that has expired', (p) => p.deposit(DEPOSIT, { validBefore: 1n }), 'payload_authorization_valid_before'],
    [
      'that is not valid yet',
      (p) => p.deposit(DEPOSIT, { validAfter: 2n ** 40n }),
      'payload_authorization_valid_after',
    ],
    [
      'signed by nobody',
      (p) => p.deposit(DEPOSIT, { signature: `0x${'11'.repeat(65)}` }),
      'receive_authorization_signature',
    ],
    [
      'by Permit2',
      async () => ({ type: 'deposit', deposit: { amount: '200000', authorization: { permit2Authorization: {} } } }),
      'erc3009_authorization_required',
    ],
    ['that is missing', async () => ({ type: 'deposit' }), 'payload_type'],
  ])('%s gets the code of the scheme; nothing runs and nothing moves', async (_what, deposit, code) => {
    const payer = await richPayer();
    const before = agent.calls.length;
    const refused = await post(payer.pay(await post(), PRICE, { payload: await deposit(payer) }));
    expect([refused.status, requiredBy(refused).error]).toEqual([402, `invalid_batch_settlement_evm_${code}`]);
    expect(agent.calls.length).toBe(before);
    expect(await h.usdcOf(payer.config.payer)).toBe(1_000_000n);
  });
});
