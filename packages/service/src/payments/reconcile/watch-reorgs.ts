import { listSeenBlocks, type SeenBlock, transactionsInBlocks } from '../../chain/blocks/block-store.ts';
import { requireChain } from '../../chain/blocks/chain-point.ts';
import { hashesOfNonce, markMined, reopenNonce } from '../../chain/transaction-store.ts';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { paymentsInBlocks } from '../chain-outbox/chain-payment-list-store.ts';
import { markLost, relocatePayment } from '../chain-outbox/chain-payment-store.ts';
import { findPlace } from '../chain-outbox/find-fate.ts';

/** Older blocks are not watched: no reorg of Base has been nearly as deep. */
export const WATCHED_BLOCKS = 128n;
/** Depth below which blocks are checked every time. */
const YOUNG_BLOCKS = 12n;

/** Detects reorgs that removed blocks with transactions or payments of this node. */
export interface ReorgWatch {
  /** Checks once, after earlier checks have ended. Transactions and payments of removed blocks get their new block, or are marked as lost, to be collected again. */
  look(): Promise<void>;
}

/**
 * While the newest block of the last check is on the chain, so are all before it, so older blocks are checked once. Young ones are checked
 * every time, as an answer may come from an RPC node that has not seen a reorg yet.
 */
export function createReorgWatch(ctx: ChainContext): ReorgWatch {
  let standing: SeenBlock | null = null;
  let checked = new Set<string>();
  const looks = createSemaphore();

  async function look(): Promise<void> {
    const head = await ctx.usdc.headBlock();
    const before = standing ?? { number: head, hash: '' };
    const [newestHash, hashNow] = await Promise.all([head, before.number].map(ctx.usdc.hashAt));
    if (hashNow !== before.hash) checked = new Set();
    // After a pause: a reorg may have begun where the last look ended.
    const fromBlock = (before.number < head ? before.number : head) - WATCHED_BLOCKS;
    const seen = await listSeenBlocks(ctx.db, ctx.chain.chainId, fromBlock);
    const gone = await goneOf(
      ctx,
      seen.filter(({ hash }) => !checked.has(hash)),
    );
    if (gone.length > 0) await takeBack(ctx, gone);
    const isGone = new Set(gone.map(({ hash }) => hash));
    const stands = ({ number, hash }: SeenBlock) => number <= head - YOUNG_BLOCKS && !isGone.has(hash);
    checked = new Set(seen.filter(stands).map(({ hash }) => hash));
    standing = { number: head, hash: newestHash ?? '' };
  }
  return {
    // One that began before a reorg, and ended after another had seen it, would hide it.
    look: () => looks.run(look),
  };
}

/** The blocks that were replaced by another at their height. A chain that does not have the height yet proves nothing. */
export async function goneOf(ctx: ChainContext, blocks: readonly SeenBlock[]): Promise<SeenBlock[]> {
  const now = await Promise.all(blocks.map(({ number }) => ctx.usdc.hashAt(number)));
  return blocks.filter(({ hash }, index) => now[index] !== null && now[index] !== hash);
}

async function takeBack(ctx: ChainContext, gone: readonly SeenBlock[]): Promise<void> {
  await requireChain(ctx);
  const { chainId } = ctx.chain;
  const hashes = await transactionsInBlocks(ctx.db, chainId, gone);
  const payments = await paymentsInBlocks(ctx.db, ctx.chain, gone);
  ctx.log.warn(
    { blocks: gone.map(({ hash }) => hash), transactions: hashes.length, payments: payments.length },
    'chain reorganised; locating transactions of the removed blocks',
  );
  for (const hash of hashes) {
    const mined = await ctx.usdc.findMined(await hashesOfNonce(ctx.db, hash));
    await ctx.db.transaction((tx) => (mined ? markMined(tx, mined) : reopenNonce(tx, hash)));
  }
  for (const payment of payments) {
    const place = await findPlace(ctx, payment);
    if (place) await relocatePayment(ctx.db, payment.id, place);
    else await markLost(ctx.db, payment.id, ctx.clock.now());
  }
}
