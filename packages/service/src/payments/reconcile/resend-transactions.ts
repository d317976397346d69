import { randomUUID } from 'node:crypto';
import { LEASE_MS } from '../../chain/lease.ts';
import { registerSigner, takeStrandedKeys } from '../../chain/signer-store.ts';
import { listOpenNonces, markMined, markReplaced, type OpenNonce } from '../../chain/transaction-store.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import { signAgain } from '../onchain/open-transaction.ts';
import { BUMP_AFTER_MS } from '../settlement/transaction-monitor.ts';

/** Younger ones are in the hands of whoever sent them. */
const MINED_BY_NOW_MS = 4000;
/** A block may have a nonce before every part of a chain's front tells which transaction it was. */
const TOLD_BY_NOW_MS = 30_000;
const HOLDER = `reconciler ${randomUUID()}`;

/**
 * Sends every transaction that no block has, whoever looks after it: to send it again is harmless. Keys that nobody looks after are
 * looked after here: what offers too little is signed again for a higher fee.
 */
export async function resendTransactions(ctx: ChainContext): Promise<void> {
  const { chainId } = ctx.chain;
  const lease = { holder: HOLDER, leaseMs: LEASE_MS };
  const nowMs = ctx.clock.now().getTime();
  const open = await listOpenNonces(ctx.db, chainId, new Date(nowMs - MINED_BY_NOW_MS));
  if (open.length === 0) return;
  const ours = await takeStrandedKeys(ctx.db, chainId, lease);
  for (const nonce of open)
    await resend(ctx, nonce, ours.has(nonce.signer)).catch((error) =>
      ctx.log.warn({ err: error, hash: nonce.hashes[0] }, 'cannot resend transaction'),
    );
}

async function resend(ctx: ChainContext, open: OpenNonce, isOurs: boolean): Promise<void> {
  const mined = await ctx.usdc.findMined(open.hashes);
  if (mined) return ctx.db.transaction((tx) => markMined(tx, mined));
  const nowMs = ctx.clock.now().getTime();
  const isDue = isOurs && nowMs - open.newestAt.getTime() >= BUMP_AFTER_MS;
  const again = isDue ? await signAgain(ctx, open, { holder: HOLDER, leaseMs: LEASE_MS }) : open;
  if (again === null) return;
  const answer = await ctx.usdc.send(again.raw);
  if (answer === 'nonce used' && nowMs - open.firstAt.getTime() >= TOLD_BY_NOW_MS) await giveUpNonce(ctx, open);
}

/** Somebody else used the key: the nonce is gone, and what it was to carry is sent under another. */
async function giveUpNonce(ctx: ChainContext, open: OpenNonce): Promise<void> {
  const count = await ctx.usdc.transactionCount(open.signer);
  if (BigInt(count) <= open.nonce || (await ctx.usdc.findMined(open.hashes))) return;
  ctx.log.error({ signer: open.signer, nonce: String(open.nonce) }, 'nonce used by a foreign transaction');
  await ctx.db.transaction(async (tx) => {
    await markReplaced(tx, open);
    await registerSigner(tx, open, count);
  });
}
