import { createFairPace, type FairPace } from '../../lib/concurrency/fair-pace.ts';

/** Bytes of streams, large results and large inputs that accounts store in this process. */
export interface StoragePace extends FairPace {
  /** Of one account. */
  readonly bytesPerMinute: number;
}

export interface HasStoragePace {
  readonly storagePace: StoragePace;
}

/** Part of a minute's bytes that an account may store at once. */
const BURST = 1 / 8;
/** An account stores at most a quarter of what all may. */
const ACCOUNTS = 4;
/** Bytes that all store at once: what the others' short statements wait behind. */
const BURST_OF_ALL = 256 * 1024;

/**
 * Bounds how fast accounts store: an agent that is faster waits until its stream is read on, or its result stored, and neither the
 * database nor the event loop is held up by it. `perMinute`: bytes of one account.
 */
export function createStoragePace(perMinute: number): StoragePace {
  const perS = perMinute / 60;
  const pace = createFairPace({
    ofOne: { perS, burst: perMinute * BURST },
    ofAll: { perS: perS * ACCOUNTS, burst: BURST_OF_ALL },
  });
  return { ...pace, bytesPerMinute: perMinute };
}
