import type { AgentSortField } from '@agent-network/contracts/agents/agent-search';
import { fieldOf, forEachField, type ListingRow, numberFieldNames } from './listing-fields.ts';

/** Fields with a value of their own for each agent. */
export type ColumnField = Exclude<AgentSortField, 'relevance'>;

export const columnFields: readonly ColumnField[] = ['name', ...numberFieldNames];

/** Values by which agents are filtered and sorted, by ordinal. */
export class Columns {
  capacity = 1024;
  readonly ids: string[] = [];
  readonly names: string[] = [];
  #idKeys = new Float64Array(this.capacity);
  readonly numbers = forEachField(numberFieldNames, () => new Float64Array(this.capacity));

  /** Makes room for the ordinal; true when there was none. */
  grow(ordinal: number): boolean {
    if (ordinal < this.capacity) return false;
    this.capacity *= 2;
    this.#idKeys = doubled(this.#idKeys);
    const { numbers } = this;
    for (const field of numberFieldNames) numbers[field] = doubled(numbers[field]);
    return true;
  }

  setId(ordinal: number, id: string): void {
    this.ids[ordinal] = id;
    this.#idKeys[ordinal] = idKey(id);
  }

  valueOf(field: ColumnField, ordinal: number): number | string {
    return field === 'name' ? (this.names[ordinal] as string) : (this.numbers[field][ordinal] as number);
  }

  set(field: ColumnField, ordinal: number, value: number | string): void {
    if (field === 'name') this.names[ordinal] = value as string;
    else this.numbers[field][ordinal] = value as number;
  }

  /** Orders agents by their ids, but may be the same for different ones. */
  idKeyOf(ordinal: number): number {
    return this.#idKeys[ordinal] as number;
  }

  /** Three characters of the name as a number, which orders names with equal characters before; 0 after the end. */
  nameKeyOf(ordinal: number, start: number): number {
    const name = this.names[ordinal] as string;
    let key = 0;
    for (let index = start; index < start + NAME_KEY_CHARS; index++)
      key = key * 0x10001 + (index < name.length ? 1 + rankOf(name.charCodeAt(index)) : 0);
    return key;
  }

  /** Ascending. */
  compareIds(a: number, b: number): number {
    const [keyOfA, keyOfB] = [this.#idKeys[a] as number, this.#idKeys[b] as number];
    return keyOfA === keyOfB ? compareTexts(this.ids[a] as string, this.ids[b] as string) : keyOfA - keyOfB;
  }

  /** Ascending. */
  compareBy(field: ColumnField, a: number, b: number): number {
    if (field === 'name') return compareTexts(this.names[a] as string, this.names[b] as string);
    const column = this.numbers[field];
    return compareNumbers(column[a] as number, column[b] as number);
  }

  /** The value as the text of a cursor. */
  textOf(field: ColumnField, ordinal: number): string {
    return field === 'name'
      ? (this.names[ordinal] as string)
      : fieldOf(field).textOf(this.numbers[field][ordinal] as number);
  }
}

export const compareNumbers = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);

/** The value of a field from the text of a cursor. */
export const valueFrom = (field: ColumnField, text: string): number | string =>
  field === 'name' ? text : fieldOf(field).keyFrom(text);

export const columnValue = (row: ListingRow, field: ColumnField): number | string =>
  field === 'name' ? row.name.toLowerCase() : fieldOf(field).keyOf(row);

/** By code points, as PostgreSQL's C locale compares. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [unitOfA, unitOfB] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (unitOfA !== unitOfB) return rankOf(unitOfA) - rankOf(unitOfB);
  }
  return a.length - b.length;
}

/** Sort rank of a UTF-16 unit: surrogates encode code points above all others. */
const rankOf = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

export const NAME_KEY_CHARS = 3;

const PREFIX = 'agt_';
const KEY_CHARS = 9;
const END = 0;
const LOW = 1;
const BETWEEN = 12;
const HIGH = 39;

/** A number that orders ids as their texts do, except that it may be the same for different ids. */
export function idKey(id: string): number {
  if (!id.startsWith(PREFIX)) return id < PREFIX ? -1 : Number.POSITIVE_INFINITY;
  let key = 0;
  let isOver = false;
  for (let index = PREFIX.length; index < PREFIX.length + KEY_CHARS; index++) {
    const code: number = isOver ? END : idCharacter(id.charCodeAt(index));
    // The rest after an unusual character is left to the comparison of the texts.
    isOver ||= code === END || code === LOW || code === BETWEEN || code === HIGH;
    key = key * 40 + code;
  }
  return key;
}

function idCharacter(unit: number): number {
  if (Number.isNaN(unit)) return END;
  if (unit < 0x30) return LOW;
  if (unit <= 0x39) return unit - 0x30 + 2;
  if (unit < 0x61) return BETWEEN;
  return unit <= 0x7a ? unit - 0x61 + 13 : HIGH;
}

function doubled(old: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(old.length * 2);
  wider.set(old);
  return wider;
}
