import { randomUUID } from 'node:crypto';
import { type NodeIdentity, tokenKey } from '../../chain/chain-info.ts';
import { LEASE_MS } from '../../chain/keys/signer.ts';
import { listLeftKeys, resumeSigner, takeLeftKeys } from '../../chain/keys/signer-store.ts';
import { listOpenNonces, markMined, markReplaced, type OpenNonce } from '../../chain/transaction-store.ts';
import type { Store } from '../../store/database.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { signAgain } from '../chain-outbox/open-transaction.ts';
import { BUMP_AFTER_MS } from '../settlement/transaction-monitor.ts';

/** Younger transactions are left to their sender. */
const MINED_BY_NOW_MS = 4000;
/** Younger nonces are not given up. */
const TOLD_BY_NOW_MS = 30_000;
/** Blocks above the use of a nonce that is given up: of several RPC nodes, one may count it as used before another has the receipt. */
const GIVEN_UP_BELOW = 12n;
const PROCESS = randomUUID();

/** Holder of a key's lease: one token of a chain at a time, in one process. */
const holderOf = ({ chain }: Pick<NodeIdentity, 'chain'>) => `reconciler ${PROCESS}${tokenKey(chain)}`;

/**
 * Resends every unmined transaction, even one that another process monitors: resending is harmless. Keys without a live lease are taken
 * over or, if nothing of theirs is open, freed; transactions with too low a fee are replaced.
 */
export async function resendTransactions(ctx: ChainContext): Promise<void> {
  const { chainId } = ctx.chain;
  const nowMs = ctx.clock.now().getTime();
  const open = await listOpenNonces(ctx.db, chainId, new Date(nowMs - MINED_BY_NOW_MS));
  const ours = await takeKeys(ctx);
  for (const nonce of open)
    await resend(ctx, nonce, ours.has(nonce.signer)).catch((error) =>
      ctx.log.warn({ err: error, hash: nonce.hashes[0] }, 'cannot resend transaction'),
    );
}

async function takeKeys(ctx: Store & Pick<NodeIdentity, 'chain'>): Promise<ReadonlySet<string>> {
  const { chainId } = ctx.chain;
  const holder = holderOf(ctx);
  const keys = await listLeftKeys(ctx.db, chainId, holder);
  if (keys.length === 0) return new Set();
  return ctx.db.transaction((tx) => takeLeftKeys(tx, chainId, { keys, holder, leaseMs: LEASE_MS }));
}

async function resend(ctx: ChainContext, open: OpenNonce, isOurs: boolean): Promise<void> {
  const mined = await ctx.usdc.findMined(open.hashes);
  if (mined) return ctx.db.transaction((tx) => markMined(tx, mined));
  const nowMs = ctx.clock.now().getTime();
  const isDue = isOurs && nowMs - open.newestAt.getTime() >= BUMP_AFTER_MS;
  const again = isDue ? await signAgain(ctx, open, { holder: holderOf(ctx), leaseMs: LEASE_MS }) : open;
  if (again === null) return;
  const answer = await ctx.usdc.send(again.raw);
  if (answer === 'nonce used' && nowMs - open.firstAt.getTime() >= TOLD_BY_NOW_MS) await giveUpNonce(ctx, open);
}

/** Gives up a nonce that a foreign transaction used; its payments are sent under another nonce. */
async function giveUpNonce(ctx: ChainContext, open: OpenNonce): Promise<void> {
  const count = await ctx.usdc.transactionCount(open.signer);
  if (BigInt(count) <= open.nonce || !(await isUsedForGood(ctx, open))) return;
  // Asked last: it may have been mined meanwhile.
  if (await ctx.usdc.findMined(open.hashes)) return;
  ctx.log.error({ signer: open.signer, nonce: String(open.nonce) }, 'nonce used by a foreign transaction');
  await ctx.db.transaction(async (tx) => {
    await markReplaced(tx, open);
    await resumeSigner(tx, open, count);
  });
}

/** True if the nonce is used for good. A local chain is one node without old states, so its newest block is enough. */
async function isUsedForGood({ chain, usdc }: ChainContext, { signer, nonce }: OpenNonce): Promise<boolean> {
  if (chain.isLocal) return true;
  const head = await usdc.headBlock();
  if (head < GIVEN_UP_BELOW) return false;
  return BigInt(await usdc.transactionCount(signer, head - GIVEN_UP_BELOW)) > nonce;
}
