import { invariant } from './invariant.ts';

export type Batcher<I, O> = {
  /** Resolves with the item's own result, or rejects with the error of the run that was its alone. */
  add(item: I): Promise<O>;
  /** Resolves when nothing waits and nothing runs. Items added meanwhile are waited for as well. */
  idle(): Promise<void>;
};

export type BatcherOptions<I, O> = {
  /** All or nothing: answers one result per item, in the order of the items, or throws having changed nothing. */
  run: (items: I[]) => Promise<O[]>;
  maxSize: number;
  maxConcurrent?: number;
  /** Items of one key never share a batch nor run at the same time, and keep their order. */
  keyOf?: (item: I) => string;
  /**
   * Whether a batch that threw this may be run again item by item. Say no when the error leaves open whether the batch
   * was applied (a connection lost during commit) or concerns every item alike (the database is away). Default: always.
   */
  canSplit?: (error: unknown) => boolean;
};

type Entry<I, O> = { item: I; key: string | undefined; resolve: (result: O) => void; reject: (error: unknown) => void };

/**
 * Groups items that arrive while earlier ones are being worked on. A lone item starts within a microtask; there is no timer.
 * When a batch of several throws, each of its items is run again alone, one after the other, so that a poisoned item fails
 * only itself.
 */
export function createBatcher<I, O>(options: BatcherOptions<I, O>): Batcher<I, O> {
  const { maxSize, maxConcurrent = 1, keyOf } = options;
  invariant(maxSize >= 1 && maxConcurrent >= 1, 'a batcher has room for one item');
  let waiting: Entry<I, O>[] = [];
  let idleWaiters: (() => void)[] = [];
  let runningCount = 0;
  let isPumpDue = false;
  const runningKeys = new Set<string>();

  function pump(): void {
    isPumpDue = false;
    while (runningCount < maxConcurrent && waiting.length > 0) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      void work(batch);
    }
    if (runningCount === 0 && waiting.length === 0) {
      for (const resolve of idleWaiters) resolve();
      idleWaiters = [];
    }
  }

  function takeBatch(): Entry<I, O>[] {
    if (!keyOf) return waiting.splice(0, maxSize);
    const batch: Entry<I, O>[] = [];
    const left: Entry<I, O>[] = [];
    const seenKeys = new Set<string>();
    for (const entry of waiting) {
      const key = entry.key as string;
      const isFree = batch.length < maxSize && !runningKeys.has(key) && !seenKeys.has(key);
      (isFree ? batch : left).push(entry);
      seenKeys.add(key);
    }
    waiting = left;
    return batch;
  }

  async function work(batch: Entry<I, O>[]): Promise<void> {
    runningCount++;
    for (const { key } of batch) if (key !== undefined) runningKeys.add(key);
    await settle(batch, options);
    for (const { key } of batch) if (key !== undefined) runningKeys.delete(key);
    runningCount--;
    pump();
  }

  return {
    add(item) {
      return new Promise<O>((resolve, reject) => {
        waiting.push({ item, key: keyOf?.(item), resolve, reject });
        if (isPumpDue || runningCount >= maxConcurrent) return;
        isPumpDue = true;
        queueMicrotask(pump);
      });
    },
    idle() {
      if (runningCount === 0 && waiting.length === 0) return Promise.resolve();
      return new Promise((resolve) => {
        idleWaiters.push(resolve);
      });
    },
  };
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
