import { invariant } from '../invariant.ts';
import type { Semaphore } from './semaphore.ts';

export type Batcher<I, O> = {
  /** Resolves with the item's own result, or rejects with the error of its run. */
  add(item: I): Promise<O>;
  /** Resolves when nothing waits and nothing runs, including items added in the meantime. */
  idle(): Promise<void>;
  /** Time for which the oldest waiting item has waited; 0: none waits. */
  waitingMs(): number;
};

export type BatcherOptions<I, O> = {
  /** All or nothing: returns one result per item, in the order of the items, or throws having changed nothing. */
  run: (items: I[]) => Promise<O[]>;
  /** Maximum size of a batch: items, or their weights. A heavier item gets a batch of its own. */
  maxSize: number;
  /** Default: every item weighs 1. */
  weightOf?: (item: I) => number;
  maxConcurrent?: number;
  /** Shared by several batchers to limit their concurrent batches; waiting items gather until then. */
  semaphore?: Semaphore;
  /**
   * Delay of the next batch after the previous one while a batch runs, unless the next one is full: items gather instead of spreading over
   * all concurrent runs. May depend on the number of running batches. Default: 0.
   */
  staggerMs?: (runningCount: number) => number;
  /** Items of one key never share a batch nor run at the same time, and keep their order. */
  keyOf?: (item: I) => string;
  /**
   * True if a batch that failed with this error may be run again item by item. Return false when the error leaves open whether the batch
   * was applied (a connection lost during commit) or concerns every item alike (the database is away). Default: always true.
   */
  canSplit?: (error: unknown) => boolean;
};

type Entry<I, O> = {
  item: I;
  key: string | undefined;
  weight: number;
  sinceMs: number;
  resolve: (result: O) => void;
  reject: (error: unknown) => void;
};

/**
 * Creates a batcher: it groups items that arrive while earlier ones run. New items start at the end of the current event loop turn, so that
 * requests that were read together stay together; the only timer is that of `staggerMs`. When a batch of several items throws, each item is
 * run again alone, in sequence, so that a poisoned item fails only itself.
 */
export function createBatcher<I, O>(options: BatcherOptions<I, O>): Batcher<I, O> {
  const { maxSize, maxConcurrent = 1, staggerMs = () => 0, semaphore } = options;
  invariant(maxSize >= 1 && maxConcurrent >= 1, 'a batcher has room for one item');
  const line = createLine(options);
  let idleWaiters: (() => void)[] = [];
  let runningCount = 0;
  let isPumpDue = false;
  const stagger = createStagger(staggerMs, pump);

  function pump(): void {
    isPumpDue = false;
    while (runningCount < maxConcurrent && line.length() > 0 && !mustGather()) {
      if (semaphore && !semaphore.tryAcquire(pump)) return;
      const batch = line.takeBatch();
      if (batch.length === 0) {
        semaphore?.release();
        return;
      }
      stagger.started();
      void work(batch);
    }
    if (runningCount === 0 && line.length() === 0) {
      for (const resolve of idleWaiters) resolve();
      idleWaiters = [];
    }
  }

  function pumpSoon(): void {
    if (isPumpDue) return;
    isPumpDue = true;
    setImmediate(pump);
  }

  const mustGather = () => runningCount > 0 && line.weight() < maxSize && stagger.isOn(runningCount);

  async function work(batch: Entry<I, O>[]): Promise<void> {
    runningCount++;
    await settle(batch, options);
    line.leave(batch);
    runningCount--;
    semaphore?.release();
    pumpSoon();
  }

  return {
    add(item) {
      const result = line.join(item);
      if (runningCount < maxConcurrent) pumpSoon();
      return result;
    },
    idle() {
      if (runningCount === 0 && line.length() === 0) return Promise.resolve();
      return new Promise((resolve) => {
        idleWaiters.push(resolve);
      });
    },
    waitingMs() {
      const firstMs = line.firstMs();
      return firstMs === null ? 0 : performance.now() - firstMs;
    },
  };
}

/** The delay after the start of a batch; while it is on, `whenOver` will be called once. */
function createStagger(delayMs: (runningCount: number) => number, whenOver: () => void) {
  let lastStartMs = 0;
  let isTimerSet = false;
  return {
    started(): void {
      lastStartMs = performance.now();
    },
    isOn(runningCount: number): boolean {
      const leftMs = lastStartMs + delayMs(runningCount) - performance.now();
      if (leftMs <= 0) return false;
      if (!isTimerSet)
        setTimeout(() => {
          isTimerSet = false;
          whenOver();
        }, leftMs);
      isTimerSet = true;
      return true;
    },
  };
}

/** The items that wait, in order, and the keys of those that were taken and have not left. */
function createLine<I, O>({ maxSize, keyOf, weightOf = () => 1 }: BatcherOptions<I, O>) {
  let waiting: Entry<I, O>[] = [];
  let waitingWeight = 0;
  const takenKeys = new Set<string>();

  function nextBatch(): Entry<I, O>[] {
    if (!keyOf) return waiting.splice(0, countFitting(waiting, maxSize));
    const free: Entry<I, O>[] = [];
    const seenKeys = new Set<string>();
    for (const entry of waiting) {
      const key = entry.key as string;
      if (!takenKeys.has(key) && !seenKeys.has(key)) free.push(entry);
      seenKeys.add(key);
    }
    const batch = free.slice(0, countFitting(free, maxSize));
    const taken = new Set(batch);
    waiting = waiting.filter((entry) => !taken.has(entry));
    return batch;
  }

  return {
    length: () => waiting.length,
    weight: () => waitingWeight,
    firstMs: () => waiting[0]?.sinceMs ?? null,
    join: (item: I) =>
      new Promise<O>((resolve, reject) => {
        const weight = weightOf(item);
        waiting.push({ item, key: keyOf?.(item), weight, sinceMs: performance.now(), resolve, reject });
        waitingWeight += weight;
      }),
    /** Empty while everything waits for a key. */
    takeBatch(): Entry<I, O>[] {
      const batch = nextBatch();
      waitingWeight -= batch.reduce((sum, { weight }) => sum + weight, 0);
      for (const { key } of batch) if (key !== undefined) takenKeys.add(key);
      return batch;
    },
    leave(batch: readonly Entry<I, O>[]): void {
      for (const { key } of batch) if (key !== undefined) takenKeys.delete(key);
    },
  };
}

/** Returns the number of leading entries that fit into one batch. */
function countFitting(entries: readonly { readonly weight: number }[], maxSize: number): number {
  let weight = 0;
  const beyond = entries.findIndex((entry, index) => {
    weight += entry.weight;
    return weight > maxSize && index > 0;
  });
  return beyond === -1 ? entries.length : beyond;
}

async function settle<I, O>(batch: Entry<I, O>[], options: BatcherOptions<I, O>): Promise<void> {
  const { run, canSplit = () => true } = options;
  let results: O[];
  try {
    results = await run(batch.map((entry) => entry.item));
  } catch (error) {
    if (batch.length > 1 && canSplit(error)) {
      for (const entry of batch) await settle([entry], options);
    } else {
      for (const entry of batch) entry.reject(error);
    }
    return;
  }
  const isComplete = results.length === batch.length;
  for (const [index, entry] of batch.entries()) {
    if (isComplete) entry.resolve(results[index] as O);
    else entry.reject(new Error(`Invariant broken: a batch of ${batch.length} got ${results.length} results`));
  }
}
