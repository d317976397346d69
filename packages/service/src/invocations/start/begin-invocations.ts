import type { HasDb } from '../../db/database.ts';
import { isRolledBack } from '../../db/database-away.ts';
import type { HasClock } from '../../lib/clock.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { holdAtLoss } from '../../payments/ledger/hold-money.ts';
import type { Purchases } from '../../payments/onchain/purchases.ts';
import { holdsOf } from '../hold-of.ts';
import type { Invocation } from '../invocation.ts';
import { beginInvocations, beginPaid } from '../invocation-store.ts';

export interface Begin {
  readonly invocation: Invocation;
  readonly paymentHash: string;
}

/** Moves invocations to `processing` after their x402 payment has settled. */
export interface Beginner {
  /** The invocation in its new state; null when it was taken over, has ended, or its payment was given back. */
  begin(begin: Begin): Promise<Invocation | null>;
}

export interface HasBeginner {
  readonly beginner: Beginner;
}

const MAX_BATCH = 100;

/**
 * Begins what was recorded as settled without beginning, by a process of an earlier version. State and hold change in one transaction. What the
 * account lacks, because the reversal of another payment took it, is the node's loss: this payment did come in.
 */
export function createBeginner(ctx: HasDb & HasClock): Beginner {
  const batcher = createBatcher<Begin, Invocation | null>({
    maxSize: MAX_BATCH,
    canSplit: isRolledBack,
    run: async (items) => {
      const now = ctx.clock.now();
      const moved = await ctx.db.transaction(async (tx) => {
        const begins = items.map(({ invocation, paymentHash }) => ({ ...invocation, paymentHash }));
        const ids = await beginInvocations(tx, begins, now);
        const begun = begins.filter(({ id }) => ids.has(id));
        await holdAtLoss(tx, holdsOf(begun), now);
        return ids;
      });
      return items.map(({ invocation, paymentHash }) =>
        moved.has(invocation.id) ? { ...invocation, paymentHash, status: 'processing', startedAt: now } : null,
      );
    },
  });
  return { begin: (begin) => batcher.add(begin) };
}

/** Begins requests in the transactions that record their payments: one is `processing` if and only if its hold exists. */
export const purchases: Purchases = {
  begin: async (tx, paid, now) => holdsOf(await beginPaid(tx, paid, now)),
};
