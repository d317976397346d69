import { createBatcher } from '../../lib/concurrency/batcher.ts';
import type { Store } from '../../store/database.ts';
import { isRolledBack } from '../../store/database-away.ts';
import {
  type EndedKey,
  type HeldKey,
  type KeyToTake,
  type SealedAnswer,
  storeAnswer,
  storeAnswers,
  takeKeys,
} from './idempotency-store.ts';

/** Takes keys and stores answers: concurrent requests share a statement and its commit. */
export interface KeyWriter {
  /** Takes a key; see `takeKeys`. */
  take(key: KeyToTake): Promise<{ readonly isRepeated: boolean } | null>;
  /** Stores an answer; see `storeAnswer`. */
  store(held: EndedKey, answer: SealedAnswer): Promise<boolean>;
}

const MAX_BATCH = 100;
const MAX_BATCH_BYTES = 256 * 1024;
/** An answer of this size has a statement of its own, so that small ones do not wait for it. */
const LARGE_BYTES = 64 * 1024;

interface Ended {
  readonly held: EndedKey;
  readonly answer: SealedAnswer;
}

/** `keptMs`: how long a key belongs to its request. */
export function createKeyWriter({ db }: Pick<Store, 'db'>, keptMs: number): KeyWriter {
  const takes = createBatcher<KeyToTake, { readonly isRepeated: boolean } | null>({
    maxSize: MAX_BATCH,
    maxConcurrent: 2,
    keyOf: nameOf,
    canSplit: isRolledBack,
    run: (keys) => takeKeys(db, keys, keptMs),
  });
  const ends = createBatcher<Ended, boolean>({
    maxSize: MAX_BATCH_BYTES,
    weightOf: ({ answer }) => Math.max(Math.floor(MAX_BATCH_BYTES / MAX_BATCH), answer.sealed.length),
    maxConcurrent: 2,
    keyOf: ({ held }) => nameOf(held),
    canSplit: isRolledBack,
    run: (answers) => storeAnswers(db, answers),
  });
  return {
    take: (key) => takes.add(key),
    store: (held, answer) =>
      answer.secret || answer.sealed.length >= LARGE_BYTES ? storeAnswer(db, held, answer) : ends.add({ held, answer }),
  };
}

const nameOf = ({ accountId, key }: HeldKey) => `${accountId} ${key}`;
