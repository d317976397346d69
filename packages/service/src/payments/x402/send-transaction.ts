import { randomUUID } from 'node:crypto';
import { failpoint } from '../../lib/failpoint.ts';
import { until } from '../../lib/until.ts';
import type { Wake } from '../../lib/wake.ts';
import type { ChainContext } from './chain-context.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { endLease, type Lease } from './signer-store.ts';
import type { MinedTransaction } from './usdc-client.ts';
import { type OpenTransaction, signAgain, writeAhead } from './write-ahead.ts';

/** How long a batch is looked after here, from when it waits for a key until a block has it. */
const SENT_WITHIN_MS = 20_000;
/** Three blocks of Base: a transaction that none of them took offers too little, or is not known there. */
export const BUMP_AFTER_MS = 6000;
/** Longer than a bump takes to come, so that a living holder never loses it. */
export const LEASE_MS = 10_000;
const KEY_LOOK_MS = { first: 5, most: 100 };

/** A transaction that was sent, and the block that has it, if it came in time. */
export interface Sent {
  readonly hash: string | null;
  readonly mined: MinedTransaction | null;
}

/**
 * Makes the function that puts payments on chain in one transaction. Never rejects: what went wrong is in the log, and the payments
 * are the reconciler's.
 */
export function createSending(
  ctx: ChainContext,
  { signal, freed }: { signal: AbortSignal; freed: Wake },
): (payments: readonly NewChainPayment[]) => Promise<Sent> {
  const lease: Lease = { holder: `settler ${randomUUID()}`, leaseMs: LEASE_MS };

  /** Another batch has every key: this one waits for the first that a block sets free. */
  async function takeTurn(payments: readonly NewChainPayment[], endMs: number): Promise<OpenTransaction | null> {
    for (let pauseMs = KEY_LOOK_MS.first; ; pauseMs = Math.min(pauseMs * 2, KEY_LOOK_MS.most)) {
      signal.throwIfAborted();
      const open = await writeAhead(ctx, payments, lease);
      if (open || performance.now() > endMs) return open;
      await freed.wait(pauseMs);
    }
  }

  return async (payments) => {
    const endMs = performance.now() + SENT_WITHIN_MS;
    let care: Care | null = null;
    try {
      const open = await takeTurn(payments, endMs);
      if (!open) ctx.log.warn({ payments: payments.length }, 'no key is free to settle payments');
      if (open) care = createCare(ctx, open, lease);
      const mined = await care?.untilMined(endMs, signal);
      if (mined) return { mined, hash: mined.hash };
    } catch (error) {
      ctx.log.warn({ err: error, hash: care?.hash() }, 'a settlement is unknown; the reconciler goes on');
    }
    await care?.leave();
    return { mined: null, hash: care?.hash() ?? null };
  };
}

interface Care {
  hash(): string | null;
  untilMined(endMs: number, signal: AbortSignal): Promise<MinedTransaction | null>;
  /** Leaves the transaction to the reconciler. */
  leave(): Promise<void>;
}

/** Looks after one transaction: sends it until the chain has it, and again for a higher fee when no block takes it. */
function createCare(ctx: ChainContext, first: OpenTransaction, lease: Lease): Care {
  let open = first;
  let isSent = false;
  let bumpAtMs = performance.now() + BUMP_AFTER_MS;

  async function bump(): Promise<void> {
    bumpAtMs = performance.now() + BUMP_AFTER_MS;
    const again = await signAgain(ctx, open, lease).catch((error) => {
      ctx.log.warn({ err: error, hash: open.hashes[0] }, 'could not sign again for a higher fee');
      return open;
    });
    if (again === null) throw new Error('another process looks after the key');
    if (again !== open)
      ctx.log.warn({ hash: again.hashes[0], nonce: String(open.nonce) }, 'sent again for a higher fee');
    open = again;
    isSent = false;
  }

  async function ask(): Promise<MinedTransaction | null> {
    failpoint('before-send');
    if (!isSent) await ctx.usdc.send(open.raw);
    isSent = true;
    failpoint('after-send');
    failpoint('before-read-mined');
    const mined = await ctx.usdc.findMined(open.hashes);
    failpoint('after-read-mined');
    return mined;
  }

  return {
    hash: () => open.hashes[0] ?? null,
    async untilMined(endMs, signal) {
      const askSafely = async () => {
        if (performance.now() > bumpAtMs) await bump();
        return ask().catch((error) => {
          ctx.log.warn({ err: error, hash: open.hashes[0] }, 'the chain did not answer');
          return null;
        });
      };
      const timeoutMs = Math.max(0, endMs - performance.now());
      return until(askSafely, { timeoutMs, firstMs: 2, mostMs: 250, signal });
    },
    async leave() {
      await endLease(ctx.db, open, lease.holder).catch(() => false);
    },
  };
}
