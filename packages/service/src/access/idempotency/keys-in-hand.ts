import type { LeftKey } from './idempotency-store.ts';

type Name = Pick<LeftKey, 'accountId' | 'key'>;

/** The Idempotency-Keys in use in this process: a key that is not in it does not run here, whatever is stored. */
export interface KeysInHand {
  /** Takes a key in hand until `leave`; null when another request has it. */
  enter(request: Name): { leave(): void } | null;
  /**
   * Records a key that the database still assigns to this process because its end could not be stored. It is released when it is out of
   * hand and the database answers, so that a repeat on any process finds the outcome.
   */
  leftHeld(key: LeftKey): void;
}

export interface HasKeysInHand {
  readonly keysInHand: KeysInHand;
}

const FIRST_TRY_MS = 100;
const MAX_BETWEEN_MS = 2000;
/** Beyond this number, keys stay held until this process takes them again or is gone. */
const MAX_LEFT = 10_000;

const nameOf = ({ accountId, key }: Name) => `${accountId} ${key}`;

export function createKeysInHand(release: (keys: readonly LeftKey[]) => Promise<void>): KeysInHand {
  const inHand = new Set<string>();
  const left = new Map<string, LeftKey>();
  let isWaiting = false;

  const releaseLeft = async (nextMs: number): Promise<void> => {
    const due = [...left].filter(([name]) => !inHand.has(name));
    const isReleased = await release(due.map(([, key]) => key)).then(
      () => true,
      () => false,
    );
    for (const [name, key] of isReleased ? due : []) if (left.get(name) === key) left.delete(name);
    isWaiting = false;
    if (left.size > 0) wait(isReleased ? FIRST_TRY_MS : Math.min(2 * nextMs, MAX_BETWEEN_MS));
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
      left.delete(name);
      return { leave: () => void inHand.delete(name) };
    },
    leftHeld({ accountId, key, worker, takenAt }) {
      if (left.size >= MAX_LEFT) return;
      left.set(nameOf({ accountId, key }), { accountId, key, worker, takenAt });
      wait(FIRST_TRY_MS);
    },
  };
}
