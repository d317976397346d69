import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { encodeFunctionData, type Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { depositCall, SETTLEMENT_CONTRACT } from '../../../../src/chain/channels/channel-calls.ts';
import { type ChannelConfig, channelDigestsOf } from '../../../../src/chain/channels/channel-digests.ts';
import { reconcilePayments } from '../../../../src/payments/reconcile/reconcile.ts';
import { followChannels } from '../../../../src/payments/schemes/batch-settlement/chain/follow-channels.ts';
import { settleDeposit } from '../../../../src/payments/schemes/batch-settlement/chain/settle-deposit.ts';
import { createPaymentChecks } from '../../../../src/payments/schemes/exact/payment-checks.ts';
import { x402Schemes } from '../../../../src/payments/schemes/schemes.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { sendAs } from '../../../support/chain-actions.ts';
import { channelOf, insertChannel, signDeposit } from '../../../support/channels.ts';
import { type Engine, type Payer, startEngine } from '../../../support/engine.ts';

const DEEP = 500_000n;
const STRANGER = `0x${'5e'.repeat(20)}`;

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({
    senders: 1,
    confirmations: [
      { fromMicro: 0n, depthBlocks: 1 },
      { fromMicro: DEEP, depthBlocks: 3 },
    ],
  });
  await engine.mine(20);
});
afterEach(async () => {
  await engine.ctx.settler.idle();
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
});
afterAll(() => engine.stop());

const rpc = (...call: [string, ...unknown[]]) => callChain(engine.chain.rpcUrl, ...call);
const idOf = (config: ChannelConfig) => channelDigestsOf(engine.ctx.chain.chainId).channelIdOf(config);
const stateOf = async (config: ChannelConfig) => {
  const [row] = await askDatabase<{ balance: string; nonce: string; isWithdrawn: boolean }>(
    engine.databaseUrl,
    `select balance_micro::text as balance, refund_nonce::text as nonce, withdraw_requested_at is not null as "isWithdrawn"
       from channel where id = $1`,
    [idOf(config)],
  );
  return row;
};
const watch = () => followChannels(engine.ctx);

/** A deposit that anyone submits; answers the channel, which the node knows. */
async function submitDeposit(payer: Payer, amountMicro = 100_000n, config = channelOf(engine.ctx.chain, payer)) {
  const { salt, ...signed } = signDeposit(engine.ctx.chain, payer, config, { valueMicro: amountMicro });
  await insertChannel(engine.ctx.db, engine.ctx.chain.chainId, config);
  await sendAs(engine.chain.rpcUrl, STRANGER, SETTLEMENT_CONTRACT, depositCall(config, salt, signed));
  return config;
}

/** A deposit that the node settles. */
async function settleOne(payer: Payer) {
  const ctx = { ...engine.ctx, ...createPaymentChecks(engine.ctx, x402Schemes) };
  const config = channelOf(ctx.chain, payer);
  const validBeforeS = (await ctx.usdc.headTimeS()) + 600n;
  const { salt, signature } = signDeposit(ctx.chain, payer, config, { valueMicro: 100_000n, validBeforeS });
  const deposit = { config, amountMicro: 100_000n, validAfterS: 0n, validBeforeS, salt, signature };
  const outcome = await settleDeposit(
    ctx,
    { ...deposit, accountId: null, client: null },
    { admit: async () => undefined, sent: () => undefined, open: (tx) => insertChannel(tx, ctx.chain.chainId, config) },
  );
  expect(outcome).toMatchObject({ state: 'settled' });
  return config;
}

const onChain = ({ withdrawDelayS, ...config }: ChannelConfig) =>
  ({ ...config, withdrawDelay: withdrawDelayS }) as unknown as Record<keyof ChannelConfig, Hex>;

/** Calls the settlement contract in somebody's name. */
const call = (from: string, functionName: 'initiateWithdraw' | 'finalizeWithdraw' | 'refund', ...args: unknown[]) =>
  sendAs(
    engine.chain.rpcUrl,
    from,
    SETTLEMENT_CONTRACT,
    encodeFunctionData({ abi: batchSettlementAbi, functionName, args } as never),
  );

it('a deposit counts when it is as deep as its amount asks for', async () => {
  const payer = await engine.newPayer();
  const config = await submitDeposit(payer, DEEP);
  await submitDeposit(payer, 7n, config);
  await watch();
  expect(await stateOf(config)).toMatchObject({ balance: '7' });
  await engine.mine(1);
  await watch();
  expect(await stateOf(config)).toMatchObject({ balance: '500007' });
});

it('two processes that follow at once write what one would', async () => {
  const other = await engine.anotherProcess();
  const configs = [];
  for (let count = 0; count < 4; count++) {
    configs.push(await submitDeposit(await engine.newPayer()));
    await Promise.all([watch(), followChannels(other), watch()]);
  }
  for (const config of configs) expect(await stateOf(config)).toMatchObject({ balance: '100000' });
});

it('without a point to go on from all channels are read, and a chain that does not answer changes nothing', async () => {
  const config = await submitDeposit(await engine.newPayer());
  await askDatabase(engine.databaseUrl, 'delete from channel_point');
  engine.proxy.rule('eth_call', ({ refuse }) => refuse('away'));
  await expect(watch()).rejects.toThrow();
  engine.proxy.rule('eth_call', null);
  expect(await stateOf(config)).toMatchObject({ balance: '0' });
  await watch();
  expect(await stateOf(config)).toMatchObject({ balance: '100000' });
});

describe.each([1, 3, 10])('a reorg of %i blocks', (depth) => {
  /** Replaces the newest blocks by empty ones, and one more. */
  async function replaceBlocks(count: number): Promise<void> {
    await rpc('anvil_rollback', count);
    await rpc('evm_increaseTime', 1);
    await engine.mine(count + 1);
  }
  const watchTwice = async () => {
    for (let run = 0; run < 2; run++) await watch();
  };

  it('takes a deposit out of its block: the balance falls, and comes back with the deposit, which is sent again', async () => {
    const config = await settleOne(await engine.newPayer());
    await watchTwice();
    await engine.mine(depth - 1);
    await watchTwice();
    await replaceBlocks(depth);
    await watchTwice();
    expect(await stateOf(config)).toMatchObject({ balance: '0' });
    const later = { ...engine.ctx, clock: { now: () => new Date(Date.now() + 6000) } };
    for (let turn = 0; turn < 3; turn++) {
      await reconcilePayments(later, 60_000);
      await engine.ctx.settler.idle();
    }
    await watchTwice();
    expect(await stateOf(config)).toMatchObject({ balance: '100000' });
  });

  it('takes back a withdrawal and a refund that nobody repeats', async () => {
    const payer = await engine.newPayer();
    const config = await submitDeposit(payer);
    await watchTwice();
    await call(payer.address, 'initiateWithdraw', onChain(config), 1n);
    await call(engine.ctx.wallet.address, 'refund', onChain(config), 50_000n);
    await engine.mine(depth);
    await watchTwice();
    expect(await stateOf(config)).toMatchObject({ balance: '50000', nonce: '1' });
    await replaceBlocks(depth + 2);
    await watchTwice();
    expect(await stateOf(config)).toEqual({ balance: '100000', nonce: '0', isWithdrawn: false });
  });

  it('corrects a channel that was read ahead of the events', async () => {
    await watchTwice();
    const config = await settleOne(await engine.newPayer());
    await engine.mine(depth - 1);
    await replaceBlocks(depth);
    await watchTwice();
    expect(await stateOf(config)).toMatchObject({ balance: '0' });
    await rpc('evm_increaseTime', 900);
    await engine.mine(14);
    for (let turn = 0; turn < 2; turn++) await reconcilePayments(engine.ctx, 60_000);
  });
});

it('a begun withdrawal that an RPC node leaves out of its logs once is told of at the next run', async () => {
  const payer = await engine.newPayer();
  const config = await submitDeposit(payer);
  await watch();
  await call(payer.address, 'initiateWithdraw', onChain(config), 90_000n);
  const { settlementContract } = engine.ctx;
  const incomplete = { ...settlementContract, readLogs: async () => [] };
  const news = await followChannels({ ...engine.ctx, settlementContract: incomplete });
  expect(news.withdrawRequested).toEqual([]);
  await engine.mine(1);
  expect((await watch()).withdrawRequested).toEqual([idOf(config)]);
  await engine.mine(1);
  expect((await watch()).withdrawRequested).toEqual([]);
});

// Last: it moves the chain's clock by a day.
it('follows deposits, withdrawals and refunds, whoever made them, and tells of a begun withdrawal once', async () => {
  const { wallet } = engine.ctx;
  const payer = await engine.newPayer();
  const config = await submitDeposit(payer);
  await watch();
  expect(await stateOf(config)).toEqual({ balance: '100000', nonce: '0', isWithdrawn: false });
  await call(payer.address, 'initiateWithdraw', onChain(config), 90_000n);
  expect((await watch()).withdrawRequested).toEqual([idOf(config)]);
  expect(await stateOf(config)).toEqual({ balance: '100000', nonce: '0', isWithdrawn: true });
  await call(wallet.address, 'refund', onChain(config), 20_000n);
  expect((await watch()).withdrawRequested).toEqual([]);
  expect(await stateOf(config)).toEqual({ balance: '80000', nonce: '1', isWithdrawn: true });
  await rpc('evm_increaseTime', 86_401);
  await call(payer.address, 'finalizeWithdraw', onChain(config));
  await watch();
  expect(await stateOf(config)).toEqual({ balance: '10000', nonce: '1', isWithdrawn: false });
});
