/** Fewer are sorted at once. */
const FEW = 48;

/** Comparisons of agents, one after the other: numbers that order them, and at last one of all fields. */
export interface Ranking {
  /** The number at a depth; null: there are no more levels. `reference`: any agent that all others equal so far. */
  rankAt(depth: number, reference: number): ((ordinal: number) => number) | null;
  compare(a: number, b: number): number;
}

/**
 * The agents from `skip` up to `skip + count`, in order. Only these are sorted: quickselect on the numbers finds them, and further numbers
 * break ties.
 */
export function selectWindow(
  ordinals: Int32Array,
  skip: number,
  count: number,
  ranking: Ranking,
  depth = 0,
): Int32Array {
  const end = Math.min(ordinals.length, skip + count);
  if (skip >= end) return ordinals.subarray(0, 0);
  const rank = ordinals.length > FEW ? ranking.rankAt(depth, ordinals[0] as number) : null;
  if (rank === null)
    return ordinals
      .slice()
      .sort((a, b) => ranking.compare(a, b))
      .subarray(skip, end);
  const values = new Float64Array(ordinals.length);
  for (let index = 0; index < ordinals.length; index++) values[index] = rank(ordinals[index] as number);
  const scratch = values.slice();
  const first = smallest(scratch, skip);
  const last = end - 1 === skip ? first : smallest(scratch, end - 1);
  const starts = pick(ordinals, values, (value) => value === first);
  const below = countBelow(values, first);
  if (first === last) return selectWindow(starts, skip - below, end - skip, ranking, depth + 1);
  const middle = pick(ordinals, values, (value) => value > first && value < last).sort((a, b) => ranking.compare(a, b));
  const head = selectWindow(starts, skip - below, starts.length, ranking, depth + 1);
  const ends = pick(ordinals, values, (value) => value === last);
  const tail = selectWindow(ends, 0, end - skip - head.length - middle.length, ranking, depth + 1);
  return Int32Array.from([...head, ...middle, ...tail]);
}

function countBelow(values: Float64Array, limit: number): number {
  let count = 0;
  for (let index = 0; index < values.length; index++) if ((values[index] as number) < limit) count++;
  return count;
}

function pick(ordinals: Int32Array, values: Float64Array, test: (value: number) => boolean): Int32Array {
  const found = new Int32Array(ordinals.length);
  let size = 0;
  for (let index = 0; index < ordinals.length; index++)
    if (test(values[index] as number)) found[size++] = ordinals[index] as number;
  return found.subarray(0, size);
}

/** The value at this place in sorted order (quickselect); reorders the values. */
function smallest(values: Float64Array, place: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = middleOf(values[low] as number, values[(low + high) >>> 1] as number, values[high] as number);
    let left = low;
    let right = high;
    while (left <= right) {
      while ((values[left] as number) < pivot) left++;
      while ((values[right] as number) > pivot) right--;
      if (left > right) break;
      const value = values[left] as number;
      values[left++] = values[right] as number;
      values[right--] = value;
    }
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return values[place] as number;
}

const middleOf = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
