import { isRolledBack } from '../../store/database-away.ts';
import type { LeftKey } from './idempotency-store.ts';

type Name = Pick<LeftKey, 'accountId' | 'key'>;

/** The Idempotency-Keys in use in this process. A key that is not here does not run here, regardless of its row. */
export interface HeldKeys {
  /** Takes a key in hand until `leave`; null when another request has it. */
  enter(request: Name): { leave(): void } | null;
  /**
   * Records a key that the database assigns to this process, or may yet: its end could not be stored, or its taking was not heard of. It is
   * released when it is out of hand and the database answers, so that a repeat on any process finds the outcome.
   */
  leftHeld(key: LeftKey): void;
}

const FIRST_TRY_MS = 100;
const MAX_BETWEEN_MS = 2000;
/** Beyond this number, keys stay held until this process takes them again or is gone. */
const MAX_LEFT = 10_000;

const nameOf = ({ accountId, key }: Name) => `${accountId} ${key}`;

export function createHeldKeys(release: (keys: readonly LeftKey[]) => Promise<void>): HeldKeys {
  const inHand = new Set<string>();
  const left = new Map<string, LeftKey>();
  let isWaiting = false;

  const releaseLeft = async (nextMs: number): Promise<void> => {
    const due = [...left.values()].filter((key) => !inHand.has(nameOf(key)));
    const released = await releaseFree(release, due);
    for (const key of released) if (left.get(nameOf(key)) === key) left.delete(nameOf(key));
    isWaiting = false;
    if (left.size > 0) wait(released.length > 0 ? FIRST_TRY_MS : Math.min(2 * nextMs, MAX_BETWEEN_MS));
  };
  const wait = (ms: number): void => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => void releaseLeft(ms), ms).unref();
  };

  return {
    enter(request) {
      const name = nameOf(request);
      if (inHand.has(name)) return null;
      inHand.add(name);
      return { leave: () => void inHand.delete(name) };
    },
    leftHeld({ accountId, key, worker, takenAt, fingerprint, callerId, scopes }) {
      if (left.size >= MAX_LEFT) return;
      left.set(nameOf({ accountId, key }), { accountId, key, worker, takenAt, fingerprint, callerId, scopes });
      wait(FIRST_TRY_MS);
    },
  };
}

/** Releases the keys that no transaction has locked, and returns them: one that is locked is found by halving. */
async function releaseFree(
  release: (keys: readonly LeftKey[]) => Promise<void>,
  keys: readonly LeftKey[],
): Promise<readonly LeftKey[]> {
  if (keys.length === 0) return [];
  try {
    await release(keys);
    return keys;
  } catch (error) {
    if (keys.length === 1 || !isRolledBack(error)) return [];
    const half = Math.ceil(keys.length / 2);
    return [...(await releaseFree(release, keys.slice(0, half))), ...(await releaseFree(release, keys.slice(half)))];
  }
}
