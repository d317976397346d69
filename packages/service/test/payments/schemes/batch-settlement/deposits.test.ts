import { callChain } from '@agent-network/chain/chain-rpc-client';
import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEPOSIT_COLLECTOR, depositCall, SETTLEMENT_CONTRACT } from '../../../../src/chain/channels/channel-calls.ts';
import { type ChannelConfig, channelDigestsOf, depositNonce } from '../../../../src/chain/channels/channel-digests.ts';
import { createIncomingTransfers } from '../../../../src/chain/incoming-transfer-client.ts';
import { authorizationDigest } from '../../../../src/chain/keys/authorization.ts';
import { signDigest } from '../../../../src/chain/keys/local-signer.ts';
import { transferCall } from '../../../../src/chain/settlement-call.ts';
import { readTransfers } from '../../../../src/payments/reconcile/read-transfers.ts';
import { reconcilePayments } from '../../../../src/payments/reconcile/reconcile.ts';
import {
  type ChannelDeposit,
  type DepositContext,
  settleDeposit,
} from '../../../../src/payments/schemes/batch-settlement/chain/settle-deposit.ts';
import { createPaymentChecks } from '../../../../src/payments/schemes/exact/payment-checks.ts';
import { x402Schemes } from '../../../../src/payments/schemes/schemes.ts';
import type { Tx } from '../../../../src/store/sql.ts';
import { askDatabase, contradictions, walletByBooks } from '../../../support/books.ts';
import { emptyWallet, sendAs } from '../../../support/chain-actions.ts';
import { channelOf, insertChannel, signDeposit } from '../../../support/channels.ts';
import { type Engine, type Payer, startEngine } from '../../../support/engine.ts';

const SEND = 'eth_sendRawTransaction';
const STRANGER = `0x${'5e'.repeat(20)}`;

let engine: Engine;
let ctx: DepositContext;
beforeAll(async () => {
  engine = await startEngine({ senders: 1 });
  ctx = { ...engine.ctx, ...createPaymentChecks(engine.ctx, x402Schemes) };
  await engine.mine(20);
});
afterEach(async () => {
  engine.proxy.rule(SEND, null);
  await engine.ctx.settler.idle();
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await ctx.usdc.balanceOf(ctx.wallet.address));
});
afterAll(() => engine.stop());

const idOf = (config: ChannelConfig) => channelDigestsOf(ctx.chain.chainId).channelIdOf(config);

/** A deposit, valid for five minutes by the chain's time, changed as asked. */
async function newDeposit(payer: Payer, config: ChannelConfig, amountMicro = 100_000n): Promise<ChannelDeposit> {
  const validBeforeS = (await ctx.usdc.headTimeS()) + 300n;
  const { salt, authorization, signature } = signDeposit(ctx.chain, payer, config, {
    valueMicro: amountMicro,
    validBeforeS,
  });
  const { validAfterS } = authorization;
  return { config, amountMicro, validAfterS, validBeforeS, salt, signature, accountId: null, client: null };
}

const stepsFor = (config: ChannelConfig) => ({
  admit: async () => undefined,
  sent: () => undefined,
  open: (tx: Tx) => insertChannel(tx, ctx.chain.chainId, config),
});
const settle = (deposit: ChannelDeposit) => settleDeposit(ctx, deposit, stepsFor(deposit.config));

const channelRow = async (config: ChannelConfig) => {
  const [row] = await askDatabase<{ balance: string; readBlock: string }>(
    engine.databaseUrl,
    'select balance_micro::text as balance, read_block as "readBlock" from channel where id = $1',
    [idOf(config)],
  );
  return row;
};
const paymentsOf = (config: ChannelConfig) =>
  askDatabase<{ state: string; hash: string }>(
    engine.databaseUrl,
    'select state, transaction_hash as hash from chain_payment where channel_id = $1 order by created_at',
    [idOf(config)],
  );

/** The calldata of a deposit, as anyone who sees it can submit it. */
const callOf = ({ config, salt, signature, ...authorization }: ChannelDeposit): Hex =>
  depositCall(config, salt, { authorization: { ...authorization, valueMicro: authorization.amountMicro }, signature });

const submit = (deposit: ChannelDeposit) => sendAs(engine.chain.rpcUrl, STRANGER, SETTLEMENT_CONTRACT, callOf(deposit));

describe('a deposit', () => {
  it('raises the balance of its channel, once, and posts nothing to the ledger', async () => {
    const payer = await engine.newPayer();
    const config = channelOf(ctx.chain, payer);
    const deposit = await newDeposit(payer, config);
    const outcome = await settle(deposit);
    expect(outcome).toEqual({ state: 'settled', transactionHash: expect.stringMatching(/^0x/) });
    expect(await channelRow(config)).toMatchObject({ balance: '100000' });
    expect(await ctx.settlementContract.readChannels([idOf(config)], null)).toMatchObject([{ balanceMicro: 100_000n }]);
    expect(await settle(deposit)).toEqual(outcome);
    expect(await paymentsOf(config)).toHaveLength(1);
    const more = await newDeposit(payer, config, 7n);
    expect(await settle(more)).toMatchObject({ state: 'settled' });
    expect(await channelRow(config)).toMatchObject({ balance: '100007' });
    expect(await ctx.usdc.balanceOf(payer.address)).toBe(1_000_000n - 100_007n);
  });

  it('shares a transaction with exact payments and other deposits, and a bad one hurts nobody', async () => {
    const payments = await engine.claimMany(7);
    const [ahead, exact] = [payments.slice(0, 2), payments.slice(2)];
    const payers = await Promise.all(Array.from({ length: 3 }, () => engine.newPayer()));
    const poor = await engine.newPayer(100_000n);
    const configs = [...payers, poor].map((payer) => channelOf(ctx.chain, payer));
    const deposits = await Promise.all(
      [...payers, poor].map((payer, i) => newDeposit(payer, configs[i] as ChannelConfig)),
    );
    const gate = Promise.withResolvers<void>();
    let held = 0;
    engine.proxy.rule(SEND, async ({ forward }) => {
      held += 1;
      await gate.promise;
      return forward();
    });
    // Each of both keys has its transaction, so that all others gather.
    const alone = [];
    for (const [nth, payment] of ahead.entries()) {
      alone.push(ctx.settler.settle(payment));
      await expect.poll(() => held).toBe(nth + 1);
    }
    // Asked about each payment just before it waits for its transaction.
    const asking = vi.spyOn(engine.ctx.contractPayers, 'isContract');
    const areInLine = () =>
      new Set(
        asking.mock.calls.flatMap(([{ authorization }], nth) =>
          asking.mock.settledResults[nth]?.type === 'fulfilled' ? [authorization.nonce] : [],
        ),
      ).size;
    const settled = Promise.all(deposits.map(settle));
    await expect.poll(() => paymentsOf(configs[3] as ChannelConfig)).toHaveLength(1);
    await emptyWallet(engine.chain.rpcUrl, engine, poor, 100_000n);
    const paid = exact.map((payment) => ctx.settler.settle(payment));
    await expect.poll(areInLine).toBe(deposits.length + exact.length);
    asking.mockRestore();
    gate.resolve();
    await Promise.all(alone);
    expect((await settled).map(({ state }) => state)).toEqual(['settled', 'settled', 'settled', 'refused']);
    expect((await Promise.all(paid)).map(({ state }) => state)).toEqual(exact.map(() => 'settled'));
    const hashes = await Promise.all(configs.slice(0, 3).map(async (config) => (await paymentsOf(config))[0]?.hash));
    const [row] = await askDatabase<{ count: number }>(
      engine.databaseUrl,
      'select count(*)::int as count from chain_payment where transaction_hash = any($1)',
      [hashes],
    );
    expect(row?.count, 'payments in the transactions of the deposits').toBeGreaterThan(3);
    expect(await channelRow(configs[3] as ChannelConfig)).toMatchObject({ balance: '0' });
  });

  it('that somebody else submitted counts, before it was shown and after', async () => {
    const payer = await engine.newPayer();
    const config = channelOf(ctx.chain, payer);
    const early = await newDeposit(payer, config);
    const hash = await submit(early);
    expect(await settle(early)).toEqual({ state: 'settled', transactionHash: hash });
    expect(await channelRow(config)).toMatchObject({ balance: '100000' });
    expect(await paymentsOf(config)).toEqual([]);
    const raced = await newDeposit(payer, config, 5n);
    engine.proxy.rule(SEND, async ({ forward }) => {
      engine.proxy.rule(SEND, null);
      await submit(raced);
      return forward();
    });
    expect(await settle(raced)).toMatchObject({ state: 'settled' });
    expect(await channelRow(config)).toMatchObject({ balance: '100005' });
    expect(await paymentsOf(config)).toMatchObject([{ state: 'settled' }]);
  });

  it('with an authorization spent outside of the channel is refused, even if its money went to the collector', async () => {
    const payer = await engine.newPayer();
    const config = channelOf(ctx.chain, payer);
    const deposit = await newDeposit(payer, config);
    const { authorization } = signDeposit(ctx.chain, payer, config, { valueMicro: 100_000n });
    const other = { ...authorization, to: DEPOSIT_COLLECTOR, nonce: depositNonce(idOf(config), deposit.salt) };
    const signature = signDigest(authorizationDigest(ctx.chain.domainSeparator, other), payer.key);
    await sendAs(engine.chain.rpcUrl, STRANGER, ctx.chain.token, transferCall({ authorization: other, signature }));
    expect(await settle(deposit)).toEqual({ state: 'refused', reason: 'invalid_exact_evm_nonce_already_used' });
    expect(await channelRow(config)).toBeUndefined();
  });

  it.each([
    [
      'signed by another',
      'invalid_exact_evm_signature',
      (deposit: ChannelDeposit) => ({ ...deposit, amountMicro: 5n }),
    ],
    [
      'that has expired',
      'invalid_exact_evm_payload_authorization_valid_before',
      (deposit: ChannelDeposit) => ({ ...deposit, validBeforeS: 1n }),
    ],
    [
      'valid for more than a day',
      'invalid_exact_evm_payload_authorization_valid_before',
      (deposit: ChannelDeposit) => ({ ...deposit, validBeforeS: 10n ** 12n }),
    ],
  ])('%s is refused, and nothing is written', async (_what, reason, change) => {
    const payer = await engine.newPayer();
    const config = channelOf(ctx.chain, payer);
    expect(await settle(change(await newDeposit(payer, config)))).toEqual({ state: 'refused', reason });
    expect(await channelRow(config)).toBeUndefined();
  });

  it('of more than the payer has, and into a channel that the contract does not take, is refused', async () => {
    const payer = await engine.newPayer(10n);
    const config = channelOf(ctx.chain, payer);
    const [tooMuch, badDelay] = [
      await newDeposit(payer, config),
      await newDeposit(payer, { ...config, withdrawDelayS: 1 }, 5n),
    ];
    expect(await settle(tooMuch)).toEqual({ state: 'refused', reason: 'invalid_exact_evm_insufficient_balance' });
    expect(await settle(badDelay)).toEqual({
      state: 'refused',
      reason: 'invalid_exact_evm_transaction_simulation_failed',
    });
  });

  it('of a contract wallet is taken by its own rule', async () => {
    const payer = await engine.newPayer();
    // Code that answers every question with the magic word of EIP-1271.
    const code = `0x7f1626ba7e${'0'.repeat(56)}60005260206000f3`;
    await callChain(engine.chain.rpcUrl, 'anvil_setCode', payer.address, code);
    const config = channelOf(ctx.chain, payer, { payerAuthorizer: (await engine.newPayer(0n)).address });
    const deposit = { ...(await newDeposit(payer, config)), signature: `0x${'ab'.repeat(70)}` };
    expect(await settle(deposit)).toMatchObject({ state: 'settled' });
    expect(await channelRow(config)).toMatchObject({ balance: '100000' });
  });

  it('that is shown in parallel is sent once', async () => {
    const payer = await engine.newPayer();
    const config = channelOf(ctx.chain, payer);
    const deposit = await newDeposit(payer, config);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => settle(deposit)));
    expect(new Set(outcomes.map(({ state }) => state))).toEqual(new Set(['settled']));
    expect(await paymentsOf(config)).toMatchObject([{ state: 'settled' }]);
    expect(await channelRow(config)).toMatchObject({ balance: '100000' });
  });

  it('that was left open is settled by the reconciler', async () => {
    const payer = await engine.newPayer();
    const config = channelOf(ctx.chain, payer);
    const deposit = await newDeposit(payer, config);
    const other = await engine.anotherProcess();
    const dying = { ...other, ...createPaymentChecks(other, x402Schemes) };
    engine.proxy.rule(SEND, ({ refuse }) => refuse('away'));
    const left = settleDeposit(dying, deposit, stepsFor(config));
    await expect.poll(() => paymentsOf(config)).toMatchObject([{ state: 'broadcasting' }]);
    await other.settler.stop(0);
    engine.proxy.rule(SEND, null);
    const later = { ...engine.ctx, clock: { now: () => new Date(Date.now() + 10_000) } };
    await reconcilePayments(later, 0);
    await engine.ctx.settler.idle();
    await reconcilePayments(later, 0);
    expect(await paymentsOf(config)).toMatchObject([{ state: 'settled' }]);
    expect(await settle(deposit)).toMatchObject({ state: 'settled' });
    expect(await channelRow(config)).toMatchObject({ balance: '100000' });
    await left;
  });
});

it('money that comes to the wallet under the nonce of a failed deposit is a deposit of its wallet, and not the channel’s', async () => {
  const payer = await engine.newPayer(100_000n);
  const config = channelOf(ctx.chain, payer);
  const deposit = await newDeposit(payer, config);
  engine.proxy.rule(SEND, async ({ forward }) => {
    engine.proxy.rule(SEND, null);
    const { wallet, domainSeparator } = ctx.chain;
    const { validAfterS, validBeforeS, amountMicro: valueMicro, salt } = deposit;
    const nonce = depositNonce(idOf(config), salt);
    const authorization = { from: payer.address, to: wallet, valueMicro, validAfterS, validBeforeS, nonce };
    const signature = signDigest(authorizationDigest(domainSeparator, authorization), payer.key);
    await sendAs(engine.chain.rpcUrl, STRANGER, ctx.chain.token, transferCall({ authorization, signature }));
    return forward();
  });
  const reader = createIncomingTransfers({ rpcUrl: engine.proxy.url, ...ctx.chain });
  const reading = { ...engine.ctx, incomingTransfers: reader, transferDepthBlocks: 1 };
  await readTransfers(reading);
  expect(await settle(deposit)).toEqual({ state: 'refused', reason: 'invalid_exact_evm_nonce_already_used' });
  await readTransfers(reading);
  const later = { ...reading, clock: { now: () => new Date(Date.now() + 3_600_000) } };
  await readTransfers(later);
  expect(await paymentsOf(config)).toMatchObject([{ state: 'failed' }]);
  expect(await channelRow(config)).toMatchObject({ balance: '0' });
  const credited = await askDatabase<{ amount: string; kind: string }>(
    engine.databaseUrl,
    `select t.amount_micro::text as amount, t.kind from transfer t join ledger_account a on a.id = t.credit where a.address = $1`,
    [payer.address],
  );
  expect(credited).toEqual([{ amount: '100000', kind: 'deposit' }]);
});
