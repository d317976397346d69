import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { encodeFunctionData } from 'viem';
import { expect } from 'vitest';
import { DEPOSIT_COLLECTOR, SETTLEMENT_CONTRACT } from '../../../src/chain/channels/channel-calls.ts';
import { createSettlementContract } from '../../../src/chain/channels/settlement-contract-client.ts';
import { createUsdcClient } from '../../../src/chain/usdc-client.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { askDatabase } from '../../support/books.ts';
import { sendAs } from '../../support/chain-actions.ts';
import { answerWith, echo } from '../../support/test-agent.ts';
import { until } from '../../support/until.ts';
import { newVoucherPayer, settledBy } from '../../support/voucher-payer.ts';
import { type CrashSite, PRICE, PRICE_MICRO } from './crash-site.ts';
import type { Insisted } from './insist.ts';
import { tokenTransfers } from './token-transfers.ts';

const DEPOSIT_MICRO = 4n * PRICE_MICRO;

type RecordOf = (key: string, insisted: Insisted) => Promise<Record<string, unknown>>;

/** The first call of a channel brings its deposit; the next one is paid by a voucher alone. */
export async function channelCalls(site: CrashSite, arm: () => Promise<void>, recordOf: RecordOf) {
  const [agent] = site.agents;
  const { key } = await site.newAccount();
  const payer = await payerAt(site);
  const path = `/invoke/${agent.id}`;
  const call = { key, body: { task: 'survive' } };
  const unpaid = await site.request('POST', path, call);
  const headers = payer.pay(unpaid, PRICE_MICRO, { payload: await payer.deposit(DEPOSIT_MICRO) });
  await arm();

  const insisted = await site.insist('POST', path, { ...call, headers });
  const record = await recordOf(key, insisted);
  await untilFollowed(site);
  expect(record).toMatchObject({ status: 'completed', result: { echo: 'survive' }, cost: PRICE });
  const again = await site.insist('POST', path, { ...call, headers });
  expect(again.answer.body.data.requestId).toBe(record.requestId);
  expect(new Set(agent.calls.map((each) => each.headers['idempotency-key']))).toEqual(new Set([record.requestId]));
  const deposits = await tokenTransfers(site.chain.rpcUrl, site.ctx.chain.token, {
    from: payer.config.payer,
    to: DEPOSIT_COLLECTOR,
  });
  expect(deposits.map(({ valueMicro }) => valueMicro)).toEqual([DEPOSIT_MICRO]);
  expect(await channelRow(site, payer.channelId)).toEqual({ balance: '200000', charged: '50000', reserved: '0' });
  const next = { key, body: { task: 'more' } };
  const paid = payer.pay(await site.request('POST', path, next), 2n * PRICE_MICRO);
  const { answer } = await site.insist('POST', path, { ...next, headers: paid });
  expect(answer.body.data).toMatchObject({ status: 'completed', cost: PRICE });
  expect(await channelRow(site, payer.channelId)).toEqual({ balance: '200000', charged: '100000', reserved: '0' });
}

/** A call that is paid by a voucher of a channel which has been used: its commits charge the channel, and move nothing on the chain. */
export async function voucherCall(site: CrashSite, arm: () => Promise<void>, recordOf: RecordOf) {
  const { key, path, payer } = await usedChannel(site);
  const [agent] = site.agents;
  const call = { key, body: { task: 'survive' } };
  const headers = payer.pay(await site.request('POST', path, call), 2n * PRICE_MICRO);
  agent.calls.length = 0;
  await arm();
  const insisted = await site.insist('POST', path, { ...call, headers });
  const record = await recordOf(key, insisted);
  expect(record).toMatchObject({ status: 'completed', result: { echo: 'survive' }, cost: PRICE });
  const { answer } = await site.insist('POST', path, { ...call, headers });
  expect(answer.body.data.requestId).toBe(record.requestId);
  expect(settledBy(answer).extra).toMatchObject({
    chargedAmount: '50000',
    channelState: { chargedCumulativeAmount: '100000' },
  });
  expect(new Set(agent.calls.map((each) => each.headers['idempotency-key']))).toEqual(new Set([record.requestId]));
  expect(await channelRow(site, payer.channelId)).toEqual({ balance: '200000', charged: '100000', reserved: '0' });
}

/** A call that fails: its voucher is released, and pays for the next one. */
export async function failedVoucherCall(site: CrashSite, arm: () => Promise<void>, recordOf: RecordOf) {
  const { key, path, payer } = await usedChannel(site);
  const [agent] = site.agents;
  const call = { key, body: { task: 'fail' } };
  const headers = payer.pay(await site.request('POST', path, call), 2n * PRICE_MICRO);
  agent.behave(answerWith(500, { error: { message: 'no' } }));
  await arm();
  const insisted = await site.insist('POST', path, { ...call, headers });
  expect(await recordOf(key, insisted)).toMatchObject({ status: 'failed', cost: '0.00', refund: PRICE });
  expect(await channelRow(site, payer.channelId)).toEqual({ balance: '200000', charged: '50000', reserved: '0' });
  agent.behave(echo);
  const next = { key, body: { task: 'more' } };
  const paid = payer.pay(await site.request('POST', path, next), 2n * PRICE_MICRO);
  const { answer } = await site.insist('POST', path, { ...next, headers: paid });
  expect(answer.body.data).toMatchObject({ status: 'completed', cost: PRICE });
  expect(await channelRow(site, payer.channelId)).toEqual({ balance: '200000', charged: '100000', reserved: '0' });
}

/**
 * The payer takes its deposit back while a call is in flight: what the call may cost is claimed before, once, and the earning can be
 * withdrawn.
 */
export async function withdrawnCall(site: CrashSite, arm: () => Promise<void>, recordOf: RecordOf) {
  const { key, path, payer } = await usedChannel(site);
  const [agent] = site.agents;
  const call = { key, body: { task: 'survive' } };
  const headers = payer.pay(await site.request('POST', path, call), 2n * PRICE_MICRO);
  const [asked, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  agent.behave(async (request, response) => {
    asked.resolve();
    await told.promise;
    await echo(request, response);
  });
  const insisting = site.insist('POST', path, { ...call, headers });
  await asked.promise;
  await arm();
  const { withdrawDelayS: withdrawDelay, ...config } = payer.config;
  const args = [{ ...config, withdrawDelay }, DEPOSIT_MICRO] as never;
  const data = encodeFunctionData({ abi: batchSettlementAbi, functionName: 'initiateWithdraw', args });
  await sendAs(site.chain.rpcUrl, payer.config.payer, SETTLEMENT_CONTRACT, data);
  const { chainId, token } = site.ctx.chain;
  const contract = createSettlementContract({ rpcUrl: site.chain.rpcUrl, chainId, token, wallet: site.walletAddress });
  const claimed = async () => (await contract.readChannels([payer.channelId], null))[0]?.claimedMicro;
  const isClaimed = async () => (await claimed()) === 2n * PRICE_MICRO;
  await until(isClaimed);
  told.resolve();
  const record = await recordOf(key, await insisting);
  expect(record).toMatchObject({ status: 'completed', cost: PRICE });
  expect(await claimed()).toBe(2n * PRICE_MICRO);
  expect(await channelRow(site, payer.channelId)).toEqual({ balance: '200000', charged: '100000', reserved: '0' });
  const held = 'select micro::text from channel_earning where channel_id = $1';
  const isFree = async () => (await askDatabase(site.databaseUrl, held, [payer.channelId])).length === 0;
  await until(isFree);
}

/** A channel with a deposit that came with a first call. */
async function usedChannel(site: CrashSite) {
  const path = `/invoke/${site.agents[0].id}`;
  const { key } = await site.newAccount();
  const payer = await payerAt(site);
  const first = { key, body: { task: 'first' } };
  const unpaid = await site.request('POST', path, first);
  const headers = payer.pay(unpaid, PRICE_MICRO, { payload: await payer.deposit(DEPOSIT_MICRO) });
  expect((await site.insist('POST', path, { ...first, headers })).answer.status).toBe(200);
  return { key, path, payer };
}

async function payerAt(site: CrashSite) {
  const { token } = site.ctx.chain;
  const { domainSeparator } = await createUsdcClient({ rpcUrl: site.chain.rpcUrl, token }).readToken();
  const chain = { ...site.ctx.chain, wallet: site.walletAddress, domainSeparator };
  const payer = newVoucherPayer({ ctx: { chain, clock: systemClock } } as never);
  await site.chain.fund([{ address: payer.config.payer as `0x${string}`, ethWei: 0n, usdcMicro: DEPOSIT_MICRO }]);
  return payer;
}

/** Waits until the follower of the settlement contract has read the newest block: it may die over the deposit, and not over a later call. */
async function untilFollowed(site: CrashSite): Promise<void> {
  const head = Number(await callChain<string>(site.chain.rpcUrl, 'eth_blockNumber'));
  const text = 'select 1 from channel_point where block_number >= $1';
  const isRead = async () => (await askDatabase(site.databaseUrl, text, [head])).length > 0;
  await until(isRead);
}

const channelRow = async (site: CrashSite, channelId: string) =>
  (
    await askDatabase<Record<string, string>>(
      site.databaseUrl,
      'select balance_micro::text as balance, charged_micro::text as charged, reserved_micro::text as reserved from channel where id = $1',
      [channelId],
    )
  )[0];
