/** The length of a value's JSON as text without escapes, counted up to `most`: what is larger costs no more to count. */
export function jsonSizeUpTo(most: number, root: unknown): number {
  const left = [root];
  let size = 0;
  while (left.length > 0 && size < most) {
    const value = left.pop();
    if (typeof value === 'string') size += value.length + 2;
    else if (typeof value !== 'object' || value === null) size += 5;
    else if (Array.isArray(value)) {
      size += value.length + 2;
      for (const each of value) left.push(each);
    } else
      for (const [key, each] of Object.entries(value)) {
        size += key.length + 4;
        left.push(each);
      }
  }
  return Math.min(size, most);
}
