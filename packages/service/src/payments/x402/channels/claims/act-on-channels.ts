import type { HasChannelClaims } from '../../../onchain/channel-claims.ts';
import { followChannels } from '../chain/follow-channels.ts';
import { bookClaims } from './book-claims.ts';
import type { ClaimContext } from './claim-context.ts';

/**
 * Follows the settlement contract and acts on it: what a payer that withdraws owes is claimed at once, with the highest voucher, and claims
 * and sweeps by whomever are booked. Level by level: a process that dies in between is followed by the recurring runs of both.
 */
export async function actOnChannels(ctx: ClaimContext & HasChannelClaims): Promise<void> {
  const { withdrawRequested, hasClaims } = await followChannels(ctx);
  if (withdrawRequested.length > 0) {
    ctx.log.warn({ channels: withdrawRequested }, 'payers withdraw from channels; claiming what they owe');
    ctx.channelClaims.requestRun();
  }
  if (hasClaims) await bookClaims(ctx);
}
