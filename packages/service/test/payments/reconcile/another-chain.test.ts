import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGasWatches } from '../../../src/chain/gas-watch.ts';
import { createLocalSigner } from '../../../src/chain/keys/local-signer.ts';
import { newId } from '../../../src/lib/id.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { insertChainPayments } from '../../../src/payments/chain-outbox/chain-payment-store.ts';
import { prepareChain } from '../../../src/payments/reconcile/prepare-chain.ts';
import { followChannels } from '../../../src/payments/schemes/batch-settlement/chain/follow-channels.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { channelOf, insertChannel } from '../../support/channels.ts';
import { type Engine, startEngine } from '../../support/engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const serveAnotherChain = (isOther: boolean) => {
  const other = (hash: string) => `${hash.slice(0, -2)}${hash.at(-2) === '0' ? '1' : '0'}"`;
  engine.proxy.rule('eth_chainId', isOther ? ({ answer }) => answer('0x1') : null);
  engine.proxy.rule(
    'eth_getBlockByNumber',
    isOther ? async ({ forward }) => (await forward()).replaceAll(/"0x[0-9a-f]{64}"/g, other) : null,
  );
  engine.proxy.rule('eth_getTransactionReceipt', isOther ? ({ answer }) => answer(null) : null);
};

/** What a reorg changes. */
const recorded = () =>
  askDatabase(
    engine.databaseUrl,
    `select (select json_agg(t order by t.hash) from chain_transaction t) as transactions,
            (select json_agg(p order by p.id) from chain_payment p) as payments,
            (select json_agg(c order by c.id) from channel c) as channels,
            (select json_agg(c order by c.block_number) from channel_point c) as points`,
  );

/** A process with another key that starts on the same database. */
function startWith(key: Hex, formerWallets: readonly string[] = []): Promise<void> {
  const ctx = { ...engine.ctx, metrics: createMetrics() };
  const wallet = createLocalSigner(key);
  const keys = { wallet, senders: [wallet], registrar: null };
  const gas = createGasWatches(keys, { ...ctx, gasPerDayWei: null });
  return prepareChain({ ...ctx, ...keys, ...gas, chain: { ...ctx.chain, wallet: wallet.address, formerWallets } });
}

it('a database without payments is started on with any key', () => startWith(generatePrivateKey()));

it('an RPC node that serves another chain for a while takes no payment and no channel back', async () => {
  const { ctx } = engine;
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  expect(await ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
  await insertChannel(ctx.db, ctx.chain.chainId, channelOf(ctx.chain, await engine.newPayer()));
  await followChannels(ctx);
  const before = await recorded();
  await engine.mine(1);
  serveAnotherChain(true);
  await expect(ctx.reorgWatch.look()).rejects.toThrow('serves chain 1 now');
  await expect(followChannels(ctx)).rejects.toThrow('serves chain 1 now');
  expect(await recorded()).toEqual(before);
  serveAnotherChain(false);
  await ctx.reorgWatch.look();
  await followChannels(ctx);
  expect(await engine.stateOf(payment)).toBe('settled');
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
});

it('a database of another wallet is not started on until the operator names the wallet, whether it was paid or has paid', async () => {
  const { ctx } = engine;
  const former = ctx.chain.wallet;
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  expect(await ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
  const key = generatePrivateKey();
  const address = privateKeyToAddress(key).toLowerCase() as Hex;
  // As after the move: what the ledger counts on is in the new wallet.
  await engine.chain.fund([{ address, ethWei: 10n ** 18n, usdcMicro: 100_000_000n }]);
  const before = await recorded();
  await expect(startWith(key)).rejects.toThrow(
    `are of the wallet ${former}, but SETTLEMENT_PRIVATE_KEY is the key of ${address}`,
  );
  expect(await recorded()).toEqual(before);
  await startWith(key, [former]);
  const payout = { direction: 'out', purpose: 'refund', ledgerAccountId: 'outgoing' } as const;
  const authorization = { ...payment.authorization, from: address, to: payment.authorization.from };
  const refund = { ...payment, ...payout, id: newId('pay'), subjectId: newId('req'), authorization };
  await insertChainPayments(ctx.db, [refund], ctx.clock.now());
  await expect(startWith(generatePrivateKey(), [former])).rejects.toThrow(`FORMER_WALLETS=${former},${address}`);
  // From now on the newest payment is one to the new wallet.
  const later = await engine.claim(await engine.newPayer(), { to: address });
  expect(await ctx.settler.settle(later)).toMatchObject({ state: 'settled' });
  await expect(startWith(key)).rejects.toThrow(`FORMER_WALLETS=${former}`);
  await startWith(key, [former]);
});

it('a database with payments on another chain is not started on', async () => {
  const { ctx } = engine;
  const onBase = { ...ctx, chain: { ...ctx.chain, chainId: 8453 } };
  await expect(prepareChain(onBase)).rejects.toThrow(`CHAIN_ID is 8453. Set CHAIN_ID=${ctx.chain.chainId},`);
});
