/** The Idempotency-Keys that this process is at work on: one that it is not does not run here, whatever is stored. */
export interface KeysInHand {
  /** Takes a key in hand, to be given back with `leave`; null when another request has it. */
  enter(request: { accountId: string; key: string }): { leave(): void } | null;
}

export interface HasKeysInHand {
  readonly keysInHand: KeysInHand;
}

export function createKeysInHand(): KeysInHand {
  const names = new Set<string>();
  return {
    enter({ accountId, key }) {
      const name = `${accountId} ${key}`;
      if (names.has(name)) return null;
      names.add(name);
      return { leave: () => void names.delete(name) };
    },
  };
}
