/** The smallest of these amounts. */
export const minOf = (first: bigint, ...others: readonly bigint[]): bigint =>
  others.reduce((a, b) => (a < b ? a : b), first);

/** The largest of these amounts. */
export const maxOf = (first: bigint, ...others: readonly bigint[]): bigint =>
  others.reduce((a, b) => (a > b ? a : b), first);
