/** True if a value of JSON holds a number that was too large for a double: as JSON again it would be null. */
export function holdsInfinity(root: unknown): boolean {
  const rest = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return true;
    if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) rest.push(child);
  }
  return false;
}
