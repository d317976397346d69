/** Coprime to any length that memory holds: visits a list as if it were shuffled. */
const STRIDE = 2_654_435_761;

/**
 * The first `count` in the order that `compare` gives, sorted. Keeps the best so far in a heap, the last of them on top. The list is
 * visited out of its order: in it, each might be better than all before.
 */
export function selectFirst(list: Int32Array, count: number, compare: (a: number, b: number) => number): Int32Array {
  if (list.length <= count * 2) return list.slice().sort(compare).subarray(0, count);
  const heap = list.slice(0, count).sort((a, b) => compare(b, a));
  const others = list.length - count;
  let at = 0;
  for (let step = 0; step < others; step++) {
    at = (at + STRIDE) % others;
    const value = list[count + at] as number;
    if (compare(value, heap[0] as number) < 0) sink(heap, value, compare);
  }
  return heap.sort(compare);
}

/** Replaces the top of the heap. */
function sink(heap: Int32Array, value: number, compare: (a: number, b: number) => number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && compare(heap[child + 1] as number, heap[child] as number) > 0) child++;
    if (compare(heap[child] as number, value) <= 0) break;
    heap[at] = heap[child] as number;
    at = child;
  }
  heap[at] = value;
}
