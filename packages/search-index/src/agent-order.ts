import { type ColumnField, type Columns, compareNumbers, compareTexts, NAME_KEY_CHARS, valueFrom } from './columns.ts';
import type { PageEnd } from './listing.ts';
import type { SearchOrder, SortKey } from './search-order.ts';
import type { Ranking } from './select-window.ts';
import { hasOrdinal, type Relevance } from './sets.ts';

export type SortValue = number | string;

/** A place in an order, from some key on. */
export interface Mark {
  readonly values: readonly SortValue[];
  readonly id: string;
}

/** Compares agents by the keys of an order, and then by id. */
export class AgentOrder {
  readonly #columns: Columns;
  readonly order: SearchOrder;
  readonly relevance: Relevance;

  constructor(columns: Columns, order: SearchOrder, relevance: Relevance) {
    this.#columns = columns;
    this.order = order;
    this.relevance = relevance;
  }

  relevanceOf(ordinal: number): number {
    return this.relevance.find(({ agents }) => hasOrdinal(agents, ordinal))?.value ?? 0;
  }

  compare(a: number, b: number, keys: readonly SortKey[]): number {
    for (const { field, order } of keys) {
      const difference =
        field === 'relevance' ? this.relevanceOf(a) - this.relevanceOf(b) : this.#columns.compareBy(field, a, b);
      if (difference !== 0) return order === 'asc' ? difference : -difference;
    }
    const difference = this.#columns.compareIds(a, b);
    return this.order.byId === 'asc' ? difference : -difference;
  }

  ranking(keys: readonly SortKey[]): Ranking {
    return {
      compare: (a, b) => this.compare(a, b, keys),
      rankAt: (depth, reference) => this.#rankAt(keys, depth, reference),
    };
  }

  /** Names are compared in many steps, all others in one; at last a part of the id. */
  #rankAt(keys: readonly SortKey[], depth: number, reference: number): ((ordinal: number) => number) | null {
    const columns = this.#columns;
    let left = depth;
    for (const { field, order } of keys) {
      const sign = order === 'asc' ? 1 : -1;
      const steps = field === 'name' ? Math.ceil((columns.names[reference] as string).length / NAME_KEY_CHARS) + 1 : 1;
      if (left >= steps) {
        left -= steps;
        continue;
      }
      if (field === 'relevance') return (ordinal) => sign * this.relevanceOf(ordinal);
      const start = left * NAME_KEY_CHARS;
      if (field === 'name') return (ordinal) => sign * columns.nameKeyOf(ordinal, start);
      const column = columns.numbers[field];
      return (ordinal) => sign * (column[ordinal] as number);
    }
    const sign = this.order.byId === 'asc' ? 1 : -1;
    return left === 0 ? (ordinal) => sign * columns.idKeyOf(ordinal) : null;
  }

  /** Above 0 for an agent behind the mark. */
  compareToMark(ordinal: number, keys: readonly SortKey[], { values, id }: Mark): number {
    for (let index = 0; index < keys.length; index++) {
      const { field, order } = keys[index] as SortKey;
      const value = values[index] as SortValue;
      const difference =
        field === 'relevance'
          ? this.relevanceOf(ordinal) - (value as number)
          : this.compareToValue(ordinal, field, value);
      if (difference !== 0) return order === 'asc' ? difference : -difference;
    }
    const difference = this.compareToId(ordinal, id);
    return this.order.byId === 'asc' ? difference : -difference;
  }

  /** Ascending. */
  compareToValue(ordinal: number, field: ColumnField, value: SortValue): number {
    const own = this.#columns.valueOf(field, ordinal);
    return field === 'name'
      ? compareTexts(own as string, value as string)
      : compareNumbers(own as number, value as number);
  }

  /** Ascending. */
  compareToId(ordinal: number, id: string): number {
    return compareTexts(this.#columns.ids[ordinal] as string, id);
  }

  pageEndOf(ordinal: number): PageEnd {
    const keys = this.order.keys.map(({ field }) =>
      field === 'relevance' ? String(this.relevanceOf(ordinal)) : this.#columns.textOf(field, ordinal),
    );
    return { keys, id: this.#columns.ids[ordinal] as string };
  }

  markOf({ keys, id }: PageEnd): Mark {
    const values = this.order.keys.map(({ field }, index) => {
      const text = keys[index] as string;
      return field === 'relevance' ? Number(text) : valueFrom(field, text);
    });
    return { values, id };
  }
}
