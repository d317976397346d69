/** Throws when something that our own code guarantees does not hold. A bug, never a caller's mistake. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

/** Ends a switch over a closed union: the compiler refuses it while a case is missing. */
export function exhausted(value: never): never {
  throw new Error(`Invariant broken: unexpected ${JSON.stringify(value) ?? String(value)}`);
}
