import type { MinedTransaction } from '../../../../chain/usdc-client.ts';
import { failpoint } from '../../../../lib/process/failpoint.ts';
import { findOwnTransaction, recordMinedTransaction } from '../../../chain-outbox/open-transaction.ts';
import { WATCHED_BLOCKS } from '../../../reconcile/watch-reorgs.ts';
import { bookClaims } from './book-claims.ts';
import type { ClaimContext } from './claim-context.ts';
import { type ClaimSight, nextClaimState } from './claim-state.ts';
import { type Claim, listMovedClaims, listOpenClaims, moveClaim } from './claim-store.ts';
import { endRefund, reopenRefund } from './record-refund.ts';

const MAX_AT_ONCE = 100;

/**
 * Looks up the transactions of open claims and records each outcome once. Booking comes first: a claim stays open until it is booked, so
 * after a crash the next run looks it up again.
 */
export async function recordClaims(ctx: ClaimContext): Promise<void> {
  for (const claim of await listMovedClaims(ctx.db, ctx.chain, WATCHED_BLOCKS)) await reopen(ctx, claim);
  const open = await listOpenClaims(ctx.db, ctx.chain, MAX_AT_ONCE);
  if (open.length === 0) return;
  const seen = await Promise.all(open.map(async (claim) => ({ claim, ...(await look(ctx, claim)) })));
  if (seen.every(({ sight }) => sight === 'open')) return;
  await bookClaims(ctx);
  for (const { claim, sight, mined } of seen) if (sight !== 'open') await record(ctx, claim, { sight, mined });
}

async function look(ctx: ClaimContext, claim: Claim): Promise<{ sight: ClaimSight; mined: MinedTransaction | null }> {
  const where = await findOwnTransaction(ctx, claim.transactionHash);
  if (where.state !== 'mined') return { sight: where.state, mined: null };
  return { sight: where.mined.hasSucceeded ? 'mined' : 'reverted', mined: where.mined };
}

async function reopen(ctx: ClaimContext, claim: Claim): Promise<void> {
  const now = ctx.clock.now();
  const state = nextClaimState(claim.state, 'moved');
  await ctx.db.transaction(async (tx) => {
    if ((await moveClaim(tx, claim, { state, place: null, now })) && claim.reason === 'refund')
      await reopenRefund(tx, claim.id);
  });
  ctx.log.warn(
    { claimId: claim.id, hash: claim.transactionHash },
    'chain reorganised; claim of vouchers is open again',
  );
}

async function record(
  ctx: ClaimContext,
  claim: Claim,
  { sight, mined }: { sight: ClaimSight; mined: MinedTransaction | null },
): Promise<void> {
  const now = ctx.clock.now();
  const state = nextClaimState(claim.state, sight);
  const refund = claim.reason === 'refund' ? await endRefund(ctx, claim.id, { state, mined }) : null;
  await ctx.db.transaction(async (tx) => {
    if (mined) await recordMinedTransaction(tx, mined);
    const place = state === 'done' ? mined : null;
    if (await moveClaim(tx, claim, { state, place, now })) await refund?.(tx, now);
    failpoint('before-channel-record-commit');
  });
  failpoint('after-channel-record-commit');
  ctx.metrics.channelClaims.inc({ outcome: state });
  if (state === 'done' && mined) ctx.metrics.channelClaimGas.observe(Number(mined.gasUsed));
  if (state === 'failed')
    ctx.log.warn({ claimId: claim.id, hash: claim.transactionHash, sight }, 'claim of vouchers failed; claiming again');
}
