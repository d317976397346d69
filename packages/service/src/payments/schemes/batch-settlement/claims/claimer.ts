import { randomUUID } from 'node:crypto';
import { LEASE_MS, type Lease } from '../../../../chain/keys/signer.ts';
import type { ChannelClaims } from '../../../chain-outbox/channel-claims.ts';
import { followChannels } from '../chain/follow-channels.ts';
import { bookClaims } from './book-claims.ts';
import type { ClaimContext } from './claim-context.ts';
import type { ClaimMode } from './claim-plan.ts';
import { followClaim } from './follow-claim.ts';
import { recordClaims } from './record-claims.ts';
import { freeStuckChannels } from './record-refund.ts';
import { type RefusedClaims, writeAheadClaims } from './send-claims.ts';

/** Claims vouchers of channels and sweeps the money into the wallet. */
export interface ChannelClaimer extends ChannelClaims {
  /** Records outcomes and claims, one transaction after the other. A run waits for the one before it. */
  claim(mode: ClaimMode): Promise<void>;
  /** Claims calls in flight of a channel, which have to pay now, with all that is due; until the signal, also in the runs after that. */
  claimAhead(channelId: string, isOver: AbortSignal): Promise<void>;
  /** Claims debts that are worth their gas, for at most `graceMs`; the reconciler of another process continues with pending ones. */
  stop(graceMs: number): Promise<void>;
}

export function createClaimer(ctx: ClaimContext): ChannelClaimer {
  const stopping = new AbortController();
  const lease: Lease = { holder: `claimer ${randomUUID()}`, leaseMs: LEASE_MS };
  const refused: RefusedClaims = new Map();
  /** Channels to claim running calls of, with the number of waiting bills. */
  const ahead = new Map<string, number>();
  let last: Promise<void> = Promise.resolve();
  let isRequested = false;

  /** True when a transaction was mined and more may be due; false when nothing was sent, or the outcome is not known. */
  async function claimOnce(mode: ClaimMode): Promise<boolean> {
    const open = await writeAheadClaims(ctx, mode, { lease, refused, ahead: [...ahead.keys()] });
    if (!open) return false;
    const mined = await followClaim(ctx, open, { lease, signal: stopping.signal });
    return mined?.hasSucceeded ?? false;
  }

  async function run(mode: ClaimMode): Promise<void> {
    await recordClaims(ctx);
    await freeStuckChannels(ctx);
    while (!stopping.signal.aborted && (await claimOnce(mode)));
  }

  function claim(mode: ClaimMode): Promise<void> {
    const next = last.then(() => run(mode));
    last = next.catch(() => undefined);
    return next;
  }

  function claimAhead(channelId: string, isOver: AbortSignal): Promise<void> {
    if (isOver.aborted) return Promise.resolve();
    ahead.set(channelId, (ahead.get(channelId) ?? 0) + 1);
    const leave = () => {
      const waiting = (ahead.get(channelId) ?? 1) - 1;
      if (waiting === 0) ahead.delete(channelId);
      else ahead.set(channelId, waiting);
    };
    isOver.addEventListener('abort', leave, { once: true });
    return claim('due');
  }

  return {
    claim,
    claimAhead,
    requestRun() {
      if (isRequested) return;
      isRequested = true;
      setImmediate(() => {
        isRequested = false;
        claim('due').catch((error) => ctx.log.error({ err: error }, 'claims of channels failed; the next run retries'));
      });
    },
    async stop(graceMs) {
      const timer = setTimeout(() => stopping.abort(new Error('the node is stopping')), graceMs);
      await claim('stop').catch((error) => ctx.log.warn({ err: error }, 'vouchers are claimed after the next start'));
      clearTimeout(timer);
      stopping.abort(new Error('the node is stopping'));
    },
  };
}

/**
 * Follows the settlement contract and acts on it: when a payer withdraws, claims its debt at once, with the highest voucher; books claims
 * and sweeps by any sender. If a process dies in between, the recurring runs of both continue.
 */
export async function actOnChannels(ctx: ClaimContext & { readonly channelClaims: ChannelClaims }): Promise<void> {
  const { withdrawRequested, hasClaims } = await followChannels(ctx);
  if (withdrawRequested.length > 0) {
    ctx.log.warn({ channels: withdrawRequested }, 'payers withdraw from channels; claiming what they owe');
    ctx.channelClaims.requestRun();
  }
  if (hasClaims) await bookClaims(ctx);
}
