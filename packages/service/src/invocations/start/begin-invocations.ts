import type { HasDb } from '../../db/database.ts';
import { isRolledBack } from '../../db/database-away.ts';
import type { HasClock } from '../../lib/clock.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { type HasLedgerTurns, holdMoney } from '../../payments/ledger/hold-money.ts';
import { holdsOf } from '../hold-of.ts';
import type { Invocation } from '../invocation.ts';
import { beginInvocations } from '../invocation-store.ts';

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

/** The account of a payer has less than its settled payments. Nothing was changed; the others of the batch begin without it. */
class NotCoveredError extends Error {
  constructor(ids: readonly string[]) {
    super(`a settled payment does not cover its hold: one of ${ids.join()}`);
  }
}

/** State and hold change in one transaction: an invocation is `processing` if and only if its hold exists. */
export function createBeginner(ctx: HasDb & HasClock & HasLedgerTurns): Beginner {
  const batcher = createBatcher<Begin, Invocation | null>({
    maxSize: MAX_BATCH,
    canSplit: (error) => error instanceof NotCoveredError || isRolledBack(error),
    turns: ctx.ledgerTurns,
    run: async (items) => {
      const now = ctx.clock.now();
      const moved = await ctx.db.transaction(async (tx) => {
        const begins = items.map(({ invocation, paymentHash }) => ({ ...invocation, paymentHash }));
        const ids = await beginInvocations(tx, begins, now);
        const begun = begins.filter(({ id }) => ids.has(id));
        const holds = await holdMoney(tx, holdsOf(begun), now);
        if (holds.some(({ isHeld }) => !isHeld)) throw new NotCoveredError([...ids]);
        failpoint('before-begin-commit');
        return ids;
      });
      failpoint('after-begin-commit');
      return items.map(({ invocation, paymentHash }) =>
        moved.has(invocation.id) ? { ...invocation, paymentHash, status: 'processing', startedAt: now } : null,
      );
    },
  });
  return { begin: (begin) => batcher.add(begin) };
}
