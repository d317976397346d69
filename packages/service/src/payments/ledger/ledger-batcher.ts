import { type Batcher, type BatcherOptions, createBatcher } from '../../lib/concurrency/batcher.ts';
import { createSemaphore, type Semaphore } from '../../lib/concurrency/semaphore.ts';
import { until } from '../../lib/concurrency/until.ts';
import type { Store } from '../../store/database.ts';
import { DatabaseAwayError, isLockTimeout, isRolledBack } from '../../store/database-away.ts';
import { HeldUpError, type LockMode } from '../../store/lock-free.ts';
import { isUnlocked } from './ledger-store.ts';

/** Limit of each wait for a lock in a transaction that moves the money of requests. */
export const LEDGER_LOCK_TIMEOUT_MS = 1000;
/** Time that a lane waits for its row, without a lock or connection of its own. */
const PATIENCE_MS = 5000;
/** Lanes that have a transaction open at the same time. */
const MOST_LANES = 2;
/** After this time without work, the items of a lane join the shared batches again. */
const LINGER_MS = 1000;

interface LedgerBatches<I, O> extends Pick<BatcherOptions<I, O>, 'maxSize' | 'weightOf'> {
  /** One transaction: with `skip` it throws HeldUpError instead of waiting for rows that others have locked. */
  readonly run: (items: readonly I[], locks: LockMode) => Promise<O[]>;
  /** The rows that an item may wait for, as a HeldUpError names them; at least one. */
  readonly namesOf: (item: I) => readonly string[];
}

/** The item has to wait for this row: it takes no part in the shared batch. */
class HeldUp {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Batches transactions that lock accounts of the ledger. Batches that share a semaphore never wait for a row: an item with a locked account
 * moves to the lane of that account and waits there, outside the semaphore and without locks. So a slow transaction delays only those that
 * need its rows.
 */
export function createLedgerBatcher<I, O>(
  ctx: Pick<Store, 'db'> & { readonly turns: Semaphore },
  batches: LedgerBatches<I, O>,
): Pick<Batcher<I, O>, 'add' | 'waitingMs'> {
  const { namesOf, run: _, ...sizes } = batches;
  const lanes = createLanes(ctx, batches);
  const shared = createBatcher<I, O | HeldUp>({
    ...sizes,
    canSplit: isRolledBack,
    semaphore: ctx.turns,
    run: (items) => runFree(batches, items),
  });
  return {
    waitingMs: shared.waitingMs,
    async add(item) {
      const lane = lanes.find(namesOf(item));
      if (lane) return lane.add(item);
      const answer = await shared.add(item);
      return answer instanceof HeldUp ? lanes.open(answer.name).add(item) : answer;
    },
  };
}

/** Runs the items with unlocked accounts; the others get HeldUp with the ids that block them. */
async function runFree<I, O>(batches: LedgerBatches<I, O>, items: readonly I[]): Promise<(O | HeldUp)[]> {
  if (items.length === 0) return [];
  try {
    return await batches.run(items, 'skip');
  } catch (error) {
    const heldUp = heldUpBy(error, items, batches.namesOf);
    if (heldUp === null) throw error;
    const free = items.filter((item) => !heldUp.has(item));
    const answers = await runFree(batches, free);
    const answerOf = new Map(free.map((item, index) => [item, answers[index] as O | HeldUp]));
    return items.map((item) => heldUp.get(item) ?? (answerOf.get(item) as O | HeldUp));
  }
}

/** Items that blocked a failed run; null: it failed for another reason. A lock timeout does not say which row it was. */
function heldUpBy<I>(
  error: unknown,
  items: readonly I[],
  namesOf: (item: I) => readonly string[],
): ReadonlyMap<I, HeldUp> | null {
  if (!(error instanceof HeldUpError) && !isLockTimeout(error)) return null;
  const isHeld = (name: string) => !(error instanceof HeldUpError) || error.names.has(name);
  const heldUp = new Map<I, HeldUp>();
  for (const item of items) {
    const name = namesOf(item).find(isHeld);
    if (name !== undefined) heldUp.set(item, new HeldUp(name));
  }
  return heldUp.size > 0 ? heldUp : null;
}

interface Lane<I, O> {
  readonly batcher: Batcher<I, O>;
  openCount: number;
  lastMs: number;
}

const isInUse = ({ openCount, lastMs }: Pick<Lane<never, never>, 'openCount' | 'lastMs'>): boolean =>
  openCount > 0 || performance.now() - lastMs <= LINGER_MS;

/** Lanes of recently locked rows. Each has its own batches, and waits only for its row. */
function createLanes<I, O>(ctx: Pick<Store, 'db'>, { run, namesOf: _, ...sizes }: LedgerBatches<I, O>) {
  const lanes = new Map<string, Lane<I, O>>();
  const transactions = createSemaphore(MOST_LANES);

  function laneOf(name: string): Lane<I, O> {
    for (const [each, lane] of lanes) if (!isInUse(lane)) lanes.delete(each);
    const known = lanes.get(name);
    if (known) return known;
    const runInLane = async (items: I[]) => {
      await untilUnlocked(ctx, [name]);
      return transactions.run(() => run(items, 'wait'));
    };
    const lane = { batcher: createBatcher({ ...sizes, canSplit, run: runInLane }), openCount: 0, lastMs: 0 };
    lanes.set(name, lane);
    return lane;
  }

  const adding = (lane: Lane<I, O>) => ({
    add(item: I): Promise<O> {
      lane.openCount += 1;
      return lane.batcher.add(item).finally(() => {
        lane.openCount -= 1;
        lane.lastMs = performance.now();
      });
    },
  });
  return {
    find(names: readonly string[]) {
      const found = names.map((name) => lanes.get(name)).find((lane) => lane !== undefined && isInUse(lane));
      return found ? adding(found) : null;
    },
    open: (name: string) => adding(laneOf(name)),
  };
}

/** All items of a lane wait for the same row: none is spared by running alone. */
const canSplit = (error: unknown): boolean => isRolledBack(error) && !isBusyRow(error);

/** True if a transaction was given up because others keep a row locked: it changed nothing. */
export const isBusyRow = (error: unknown): boolean => isLockTimeout(error) || error instanceof LockedError;

class LockedError extends DatabaseAwayError {
  constructor(name: string) {
    super(new Error(`another transaction keeps ${name} locked`), 'nothing', true);
  }
}

/** Waits, without a lock or a connection, until the accounts are unlocked. Throws LockedError after `PATIENCE_MS`. */
async function untilUnlocked({ db }: Pick<Store, 'db'>, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const options = { timeoutMs: PATIENCE_MS, firstMs: 5, maxMs: 40 };
    const isFree = await until(async () => ((await isUnlocked(db, name)) ? true : null), options);
    if (!isFree) throw new LockedError(name);
  }
}

/** Runs a transaction that locks several accounts, outside of all turns: while it waits for one of them, it holds none of the others. */
export async function runApart<T>(ctx: Store, run: (locks: LockMode) => Promise<T>): Promise<T> {
  try {
    return await run('skip');
  } catch (error) {
    if (!(error instanceof HeldUpError)) throw error;
    await untilUnlocked(ctx, [...error.names]);
    return run('wait');
  }
}
