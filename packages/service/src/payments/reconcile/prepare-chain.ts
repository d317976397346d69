import { formatUsdc } from '@agent-network/contracts/money';
import { listSeenBlocks } from '../../chain/blocks/block-store.ts';
import { isOwnWallet, type NodeIdentity } from '../../chain/chain-info.ts';
import { keysOf } from '../../chain/keys/node-keys.ts';
import { registerSigner, type SignerKey } from '../../chain/keys/signer-store.ts';
import { countMined, listNewest, listRawFrom, type StoredTransaction } from '../../chain/transaction-store.ts';
import { until } from '../../lib/concurrency/until.ts';
import type { Store } from '../../store/database.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { type PaidIn, paymentsInBlocks, sumOpenPayouts, sumPaidIn } from '../chain-outbox/chain-payment-list-store.ts';
import { keepAssets } from '../ledger/keep-assets.ts';
import { sumWallet } from '../ledger/ledger-total-store.ts';
import { sumUnbookedPayouts } from '../payouts/found-payout-store.ts';
import { listOtherChains, listWallets } from './own-books-store.ts';
import { goneOf, WATCHED_BLOCKS } from './watch-reorgs.ts';

/** Time for a chain that was reorganised while the node was down to mine its transactions again. */
const TAKEN_AGAIN_WITHIN_MS = 10_000;
const COMPARED_FOR_MS = 1000;

/**
 * Compares the chain with the node's records at start, and registers the sending keys with their nonces and balances. Throws
 * ChainMismatchError, which prevents the start, when the books are of another chain or wallet, the chain lacks transactions that were mined
 * and does not accept them again, or the wallet holds less than the ledger says. With a `repair` it logs a loss, makes it good and continues.
 * `readWallet` brings the books of a database that is new to the node up to the chain, once this is known to be their chain.
 */
export async function prepareChain(
  ctx: ChainContext,
  repair: ChainRepair | null = null,
  readWallet: () => Promise<void> = async () => undefined,
): Promise<void> {
  const { chainId } = ctx.chain;
  await requireOwnBooks(ctx);
  await keepAssets(ctx, [ctx.chain]);
  const keys = keysOf(ctx);
  const counts = await Promise.all(
    keys.map(({ address }) => requireSameChain(ctx, { chainId, signer: address }, repair)),
  );
  await readWallet();
  await requireMoney(ctx, repair);
  for (const [index, { address }] of keys.entries())
    await registerSigner(ctx.db, { chainId, signer: address }, counts[index] ?? 0);
  await ctx.gas.refresh();
}

/** Returns the number of transactions of a key that the chain has. */
async function requireSameChain(ctx: ChainContext, key: SignerKey, repair: ChainRepair | null): Promise<number> {
  const mined = await countMined(ctx.db, key);
  const count = await ctx.usdc.transactionCount(key.signer);
  if (BigInt(count) >= mined) return count;
  const again = await sendMissing(ctx, key, { count, mined });
  if (again !== null) return again;
  if (repair) {
    ctx.log.warn({ signer: key.signer, count, mined }, 'chain lost transactions of this key; nonce advanced');
    await repair.setNonce(key.signer, mined);
    return Number(mined);
  }
  throw new ChainMismatchError(
    `The chain knows ${count} transactions of ${key.signer}, but ${mined} had been mined: it is another chain, or lost blocks. ` +
      'Restore the state of the chain that belongs to this database; nothing was changed.',
  );
}

async function sendMissing(
  ctx: ChainContext,
  key: SignerKey,
  { count, mined }: { count: number; mined: bigint },
): Promise<number | null> {
  try {
    for (const raw of await listRawFrom(ctx.db, key, BigInt(count))) await ctx.usdc.send(raw);
  } catch (error) {
    ctx.log.warn({ err: error, signer: key.signer }, 'chain refuses transactions that it had mined');
    return null;
  }
  const ask = async () => {
    const now = await ctx.usdc.transactionCount(key.signer);
    return BigInt(now) >= mined ? now : null;
  };
  return until(ask, { timeoutMs: TAKEN_AGAIN_WITHIN_MS, firstMs: 50, maxMs: 500 });
}

/**
 * Compares the wallet's balance with the minimum required by the ledger. Payouts in progress are excluded, because after a crash they may
 * have left the wallet without being booked, and so are found payouts that wait for an operator. Amounts that a reorg removed are excluded,
 * because the node collects them again once it runs. Other processes keep running, and a payout may begin between two reads: only an amount
 * that is missing in every read counts.
 */
async function requireMoney(ctx: ChainContext, repair: ChainRepair | null): Promise<void> {
  const { address } = ctx.wallet;
  let last = { holds: 0n, owes: 0n };
  const isEnough = async () => {
    const leaving = (await sumOpenPayouts(ctx.db, ctx.chain)) + (await sumUnbookedPayouts(ctx.db, ctx.chain));
    const owes = (await sumWallet(ctx.db, ctx.chain.ledgerAsset)) - leaving;
    last = { owes, holds: await ctx.usdc.balanceOf(address) };
    return last.holds >= owes || last.holds + (await sumTakenBack(ctx)) >= owes ? true : null;
  };
  if (await until(isEnough, { timeoutMs: COMPARED_FOR_MS, firstMs: 50, maxMs: 200 })) return;
  if (repair) {
    ctx.log.warn(
      { address, holds: formatUsdc(last.holds), ledger: formatUsdc(last.owes) },
      'chain lost USDC that the ledger expects; replacing it with test money',
    );
    return repair.setUsdc(address, last.owes);
  }
  throw new ChainMismatchError(
    `The wallet ${address} holds ${formatUsdc(last.holds)} USDC on chain ${ctx.chain.chainId}, but the ledger counts on ${formatUsdc(last.owes)}. ` +
      'Restore the missing USDC, from an address that FORMER_WALLETS names (from any other it is a deposit of its sender, owed as well), ' +
      'or the state of the chain that belongs to this database; nothing was changed.',
  );
}

async function sumTakenBack(ctx: ChainContext): Promise<bigint> {
  const from = (await ctx.usdc.headBlock()) - WATCHED_BLOCKS;
  const gone = await goneOf(ctx, await listSeenBlocks(ctx.db, ctx.chain.chainId, from));
  const payments = await paymentsInBlocks(ctx.db, ctx.chain, gone);
  const incoming = payments.filter(({ direction }) => direction === 'in');
  return incoming.reduce((sum, { authorization }) => sum + authorization.valueMicro, 0n);
}

/** Chain and books contradict each other: continuing would pay with money that does not exist, or owe it twice. */
class ChainMismatchError extends Error {
  override name = 'ChainMismatchError';
}

/**
 * Compares chain and wallet of the books with the configured ones. Throws ChainMismatchError when there is another: on another chain the
 * balances of the books are other money, and USDC that the former wallet sends to the new one would be credited to the holder of its key. A
 * former wallet named by the operator is accepted, and so are books without payments.
 */
async function requireOwnBooks({ db, chain }: Store & Pick<NodeIdentity, 'chain'>): Promise<void> {
  // Those of a further network are beside the books of the default one.
  const [other] = chain.ledgerAsset === null ? await listOtherChains(db, chain.chainId) : [];
  if (other !== undefined)
    throw new ChainMismatchError(
      `The books of this database are of chain ${other}, but CHAIN_ID is ${chain.chainId}. ` +
        `Set CHAIN_ID=${other}, or give the node of the other chain a database of its own; nothing was changed.`,
    );
  const others = (await listWallets(db, chain)).filter((address) => !isOwnWallet(chain, address));
  if (others.length === 0) return;
  const named = [...(chain.formerWallets ?? []), ...others].join(',');
  throw new ChainMismatchError(
    `The books of this database are of the wallet ${others.join(', ')}, but SETTLEMENT_PRIVATE_KEY is the key of ${chain.wallet}. ` +
      'Start with the key of that wallet. If you have changed the wallet and moved its USDC to the new one, say so: ' +
      `FORMER_WALLETS=${named} (docs/operating-a-node.md, "Another wallet"); nothing was changed.`,
  );
}

/**
 * Repair of a chain of test money, for local mode, when the chain has lost transactions that the database has. Other chains have no repair.
 */
export interface ChainRepair {
  /** Sets the wallet's USDC balance without a transfer. */
  setUsdc(address: string, micro: bigint): Promise<void>;
  /** Sets the nonce of the wallet's next transaction. */
  setNonce(address: string, nonce: bigint): Promise<void>;
}

/** More transactions than a local chain can lose: it saves its state about once a second. */
const NEWEST = 5000;

/** Our transactions that a chain which lost its newest blocks may lack, in their original order. */
export const transactionsToReplay = async (ctx: Pick<Store, 'db'>, chainId: number): Promise<StoredTransaction[]> =>
  (await listNewest(ctx.db, chainId, NEWEST)).toReversed();

/** Amount that each wallet paid in these transactions. */
export const payersIn = (ctx: Pick<Store, 'db'>, hashes: readonly string[]): Promise<PaidIn[]> =>
  sumPaidIn(ctx.db, hashes);
