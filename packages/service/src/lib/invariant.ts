/** Throws when a guarantee of the node's code is broken: a bug, never a caller's mistake. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

/** Ends a switch over a closed union: a missing case does not compile. */
export function exhausted(value: never): never {
  throw new Error(`Invariant broken: unexpected ${JSON.stringify(value) ?? String(value)}`);
}
