import { type ColumnField, type Columns, columnFields } from './columns.ts';
import { forEachField, type NumberFieldName, numberFieldNames } from './listing-fields.ts';
import { RangeSets } from './range-sets.ts';
import { bestFirst } from './search-order.ts';
import type { OrdinalSet } from './sets.ts';
import { SortedList } from './sorted-list.ts';

/** `id`: all agents in order of their ids. */
export type OrderField = ColumnField | 'id';

/** All agents, sorted by each field, best first; ids decide among equals, ascending. Backwards it is the reversed order. */
export class Orders {
  readonly #columns: Columns;
  readonly #lists: Readonly<Record<OrderField, SortedList>>;
  readonly #ranges: Readonly<Record<NumberFieldName, RangeSets>>;
  #isSettled = false;

  constructor(columns: Columns) {
    this.#columns = columns;
    this.#lists = {
      id: new SortedList((a, b) => columns.compareIds(a, b)),
      ...forEachField(columnFields, (field) => new SortedList(comparisonBy(columns, field))),
    };
    this.#ranges = forEachField(numberFieldNames, (field) => {
      const sign = bestFirst[field] === 'asc' ? 1 : -1;
      return new RangeSets(this.#lists[field], (ordinal) => sign * (columns.numbers[field][ordinal] as number));
    });
  }

  /** The agents with a value at least as good as this one. */
  upTo(field: NumberFieldName, value: number): OrdinalSet {
    return this.#ranges[field].upTo(bestFirst[field] === 'asc' ? value : -value, this.#columns.capacity / 32);
  }

  /** There is room for more agents than before. */
  grow(): void {
    for (const ranges of Object.values(this.#ranges)) ranges.clear();
  }

  by(field: OrderField): SortedList {
    return this.#lists[field];
  }

  /** Sorts all agents at once: far quicker than adding one after the other. */
  settle(ordinals: () => Int32Array): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const byId = ordinals().slice().sort(this.#columns.compareIds.bind(this.#columns));
    this.#lists.id.fill(byId);
    for (const field of columnFields) {
      const sorted =
        field === 'name'
          ? byId.slice().sort(comparisonBy(this.#columns, field))
          : sortedByNumber(byId, this.#columns.numbers[field], bestFirst[field] === 'desc');
      this.#lists[field].fill(sorted);
    }
  }

  /** The agent has all its values. */
  add(ordinal: number): void {
    if (!this.#isSettled) return;
    this.#lists.id.add(ordinal);
    for (const field of columnFields) this.#join(field, ordinal);
  }

  /** The agent has its values still. */
  delete(ordinal: number): void {
    if (!this.#isSettled) return;
    this.#lists.id.delete(ordinal);
    for (const field of columnFields) this.#leave(field, ordinal);
  }

  #join(field: ColumnField, ordinal: number): void {
    this.#lists[field].add(ordinal);
    if (field !== 'name') this.#ranges[field].add(ordinal);
  }

  #leave(field: ColumnField, ordinal: number): void {
    this.#lists[field].delete(ordinal);
    if (field !== 'name') this.#ranges[field].delete(ordinal);
  }

  /** Writes a value that is another one than before. */
  move(field: ColumnField, ordinal: number, value: number | string): void {
    if (this.#isSettled) this.#leave(field, ordinal);
    this.#columns.set(field, ordinal, value);
    if (this.#isSettled) this.#join(field, ordinal);
  }
}

function comparisonBy(columns: Columns, field: ColumnField): (a: number, b: number) => number {
  const sign = bestFirst[field] === 'asc' ? 1 : -1;
  return (a, b) => sign * columns.compareBy(field, a, b) || columns.compareIds(a, b);
}

/** Below, comparing is quicker than counting 65,536 buckets four times. */
const MANY = 256;

/** Stable. */
function sortedByNumber(ordinals: Int32Array, column: Float64Array, isDescending: boolean): Int32Array {
  if (ordinals.length >= MANY) return sortedByDigits(ordinals, column, isDescending);
  const sign = isDescending ? -1 : 1;
  const compare = (a: number, b: number): number => {
    const [one, other] = [column[a] as number, column[b] as number];
    return one < other ? -sign : one > other ? sign : 0;
  };
  return ordinals.slice().sort(compare);
}

/** Numbers that are not negative are in the order of their bits: sorted by 16 of them at a time, the lowest first. */
function sortedByDigits(ordinals: Int32Array, column: Float64Array, isDescending: boolean): Int32Array {
  const digits = new Uint16Array(column.buffer);
  const flip = isDescending ? 0xffff : 0;
  let from: Int32Array = ordinals;
  let to: Int32Array = new Int32Array(ordinals.length);
  const starts = new Int32Array(0x10001);
  for (let digit = 0; digit < 4; digit++) {
    starts.fill(0);
    for (const ordinal of from) {
      const bucket = ((digits[ordinal * 4 + digit] as number) ^ flip) + 1;
      starts[bucket] = (starts[bucket] as number) + 1;
    }
    for (let bucket = 1; bucket <= 0x10000; bucket++)
      starts[bucket] = (starts[bucket] as number) + (starts[bucket - 1] as number);
    for (const ordinal of from) {
      const bucket = (digits[ordinal * 4 + digit] as number) ^ flip;
      const at = starts[bucket] as number;
      starts[bucket] = at + 1;
      to[at] = ordinal;
    }
    [from, to] = [to, from === ordinals ? new Int32Array(ordinals.length) : from];
  }
  return from;
}
