import { AppError } from '../lib/app-error.ts';
import { createFairPace, type FairPace } from '../lib/concurrency/fair-pace.ts';

/** Uploads that this process takes at a time, in all and of one network address. The database bounds those of an account. */
const MAX_UPLOADS = 64;
const MAX_OF_NETWORK = 8;
/** Part of a minute's bytes that an account may upload at once. */
const BURST = 1 / 8;
/** Number of accounts that share the total pace. */
const ACCOUNTS = 4;
/** Bytes that all accounts may upload at once. */
const BURST_OF_ALL = 1024 * 1024;

/** Bounds on the uploads of this process: their number, and the pace of each account. Each holds one piece in memory. */
export interface UploadRoom {
  /** Begins an upload; returns its end. Throws UNAVAILABLE, before anything is read, while there are too many. */
  enter(network: string): () => void;
  readonly pace: FairPace;
}

/** `perMinute`: bytes of one account. */
export function createUploadRoom(perMinute: number): UploadRoom {
  const running = new Map<string, number>();
  let all = 0;
  const perS = perMinute / 60;
  return {
    pace: createFairPace({
      ofOne: { perS, burst: perMinute * BURST },
      ofAll: { perS: perS * ACCOUNTS, burst: BURST_OF_ALL },
    }),
    enter(network) {
      const own = running.get(network) ?? 0;
      if (own >= MAX_OF_NETWORK || all >= MAX_UPLOADS)
        throw new AppError('UNAVAILABLE', 'Too many uploads are running. Nothing was stored; repeat this one later.', {
          details: { outcome: 'nothing' },
        });
      running.set(network, own + 1);
      all += 1;
      return () => {
        all -= 1;
        const left = (running.get(network) ?? 0) - 1;
        if (left > 0) running.set(network, left);
        else running.delete(network);
      };
    },
  };
}
