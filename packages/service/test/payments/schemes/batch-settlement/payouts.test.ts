import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { encodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settleBills } from '../../../../src/calls/finish/settle-bills.ts';
import { createTill } from '../../../support/billing-agent.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { sendAs } from '../../../support/chain-actions.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { answerWith, echo, startTestAgent } from '../../../support/test-agent.ts';
import { newVoucherPayer } from '../../../support/voucher-payer.ts';

let h: Harness;
let aheadMs = 0;
beforeAll(async () => {
  const env = { CHANNELS: 'true', CHANNEL_CLAIM_THRESHOLD: '100', CHANNEL_CLAIM_INTERVAL_SECONDS: '86400' };
  h = await startHarness({ env, clock: { now: () => new Date(Date.now() + aheadMs) } });
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

const reserves = async () => (await h.request('GET', '/payments/reserves')).body.data;

it("an agent's earnings by vouchers can be withdrawn at once: they are claimed when the wallet does not hold them", async () => {
  const [owner, caller] = [await h.newAccount(), await h.newAccount()];
  const agent = await startTestAgent(h, { perRequest: '0.05', owner });
  const payer = newVoucherPayer(h);
  const args = [payer.config.payer as Hex, 1_000_000n] as const;
  const mint = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args });
  await sendAs(h.rpcUrl, payer.config.payer, h.ctx.chain.token, mint);
  const call = (headers: Record<string, string> = {}) =>
    h.request('POST', `/invoke/${agent.id}`, { key: caller.key, body: { task: 'x' }, headers });
  const deposit = { payload: await payer.deposit(500_000n) };
  expect((await call(payer.pay(await call(), 50_000n, deposit))).status).toBe(200);
  expect((await call(payer.pay(await call(), 100_000n))).status).toBe(200);
  expect(await h.usdcOf(h.ctx.chain.wallet)).toBe(0n);
  expect(await reserves()).toMatchObject({
    status: 'balanced',
    onChain: '0.00',
    channels: { vouchers: '0.10', claimed: '0.00' },
    liabilities: { agents: '0.10', channels: '0.00', total: '0.10' },
  });
  const [treasury] = await askDatabase<{ id: string }>(
    h.databaseUrl,
    'select id from ledger_account where agent_id = $1',
    [agent.id],
  );
  const body = { amount: '0.08', treasuryId: treasury?.id };
  const withdrawn = await h.request('POST', '/payments/withdraw', { key: owner.key, body });
  expect(withdrawn.status, JSON.stringify(withdrawn.body)).toBe(200);
  await expect.poll(() => h.usdcOf(owner.address)).toBe(80_000n);
  await expect.poll(reserves).toMatchObject({
    status: 'balanced',
    onChain: '0.02',
    channels: { vouchers: '0.00', claimed: '0.00' },
  });
  await agent.die();
});

it('a bill of a channel-paid call that is never collected goes back to the wallet of the payer', async () => {
  const caller = await h.newAccount();
  const till = createTill(h);
  const agent = await startTestAgent(h, { perRequest: '0.05' });
  const payer = newVoucherPayer(h);
  const wallet = payer.config.payer as Hex;
  const mint = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args: [wallet, 500_000n] });
  await sendAs(h.rpcUrl, wallet, h.ctx.chain.token, mint);
  const call = (headers: Record<string, string> = {}) =>
    h.request('POST', `/invoke/${agent.id}`, { key: caller.key, body: { task: 'x' }, headers });
  agent.behave(echo);
  const deposit = { payload: await payer.deposit(500_000n) };
  expect((await call(payer.pay(await call(), 50_000n, deposit))).status).toBe(200);
  agent.behave(till.bill({ collects: 'never', work: answerWith(500, { error: { message: 'no' } }) }));
  const failed = await call(payer.pay(await call(), 100_000n));
  expect(failed.body.data).toMatchObject({ status: 'failed', cost: '0.03', refund: '0.02' });
  aheadMs += 400_000;
  await callChain(h.rpcUrl, 'evm_increaseTime', 400);
  await callChain(h.rpcUrl, 'evm_mine');
  await settleBills(h.ctx);
  await expect.poll(() => h.usdcOf(wallet)).toBe(30_000n);
  const { requestId } = failed.body.data;
  expect((await h.request('GET', `/invoke/${requestId}`, { key: caller.key })).body.data).toMatchObject({
    ...{ cost: '0.00', refund: '0.05' },
  });
  const [left] = await askDatabase<{ posted: string }>(
    h.databaseUrl,
    `select posted_micro::text as posted from ledger_account where id = 'channel:' || $1`,
    [payer.channelId],
  );
  expect(left?.posted).toBe('0');
  await agent.die();
});
