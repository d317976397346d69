import { AgentOrder, type Mark, type SortValue } from './agent-order.ts';
import type { ColumnField } from './columns.ts';
import type { ListingSearch } from './listing.ts';
import { bestFirst, type SortKey } from './search-order.ts';
import { selectWindow } from './select-window.ts';
import { bitsOf, hasBit, type OrdinalSet, ordinalsOf, type Relevance } from './sets.ts';
import type { Shelf, usualCosts } from './shelf.ts';
import type { Spot } from './sorted-list.ts';

/** Matches among which the page is looked for. */
interface Part {
  has(ordinal: number): boolean;
  /** Number of matches, exact or estimated. */
  readonly size: number;
  /** Number of entries read to gather the matches: the cost of this way. */
  readonly candidates: number;
  readonly cost: number;
  gather(): Int32Array;
}

/** The keys that are left of an order, and the mark behind which the page begins; null: at the start. */
interface Rest {
  readonly keys: readonly SortKey[];
  readonly after: Mark | null;
}

/** Agents with the same value of a field. */
interface Group {
  readonly field: ColumnField;
  readonly value: SortValue;
  readonly start: Spot;
  readonly end: Spot;
}

/**
 * Reads one page of matches in order. It either walks over all agents in order until the page is full, or gathers and sorts the matches,
 * depending on the estimated work. A walk that turns out longer is abandoned for gathering.
 */
export class PageReader {
  readonly #shelf: Shelf;
  readonly #order: AgentOrder;
  readonly #search: ListingSearch;
  readonly #costs: typeof usualCosts;
  #skip: number;
  #found: number[] = [];
  /** Steps that are left to a walk. */
  #steps = Number.POSITIVE_INFINITY;

  constructor(shelf: Shelf, search: ListingSearch, relevance: Relevance) {
    this.#shelf = shelf;
    this.#search = search;
    this.#skip = search.offset;
    this.#costs = shelf.costs;
    this.#order = new AgentOrder(shelf.columns, search.order, relevance);
  }

  /** The page; `next`: its end, when agents follow. */
  read(matches: OrdinalSet) {
    const { order, after, limit } = this.#search;
    this.#run(this.#partOf(matches), { keys: order.keys, after: after && this.#order.markOf(after) });
    const shown = this.#found.slice(0, limit);
    const last = shown.at(-1);
    const next = this.#found.length > limit && last !== undefined ? this.#order.pageEndOf(last) : null;
    return { shown, next };
  }

  get #missing(): number {
    return this.#skip + this.#search.limit + 1 - this.#found.length;
  }

  /** True when the page is complete. */
  readonly #take = (ordinal: number): boolean => {
    if (this.#skip > 0) this.#skip--;
    else this.#found.push(ordinal);
    return this.#found.length > this.#search.limit;
  };

  /** True when the page is complete, or a walk around this one has no steps left. */
  #run(part: Part, rest: Rest): boolean {
    const [key, ...keys] = rest.keys;
    if (key?.field === 'relevance') return this.#runByRelevance(part, key, { ...rest, keys });
    const total = this.#shelf.orders.by('id').size;
    const { cost } = part;
    if (cost < (this.#missing * total) / Math.max(1, part.size)) return this.#gather(part, rest);
    const [outer, skip, count] = [this.#steps, this.#skip, this.#found.length];
    this.#steps = Math.min(outer, cost);
    const given = this.#steps;
    const isDone = key ? this.#walk(part, key.field, rest) : this.#walkIds(part, rest.after);
    const isCut = this.#steps < 0;
    this.#steps = outer - given + this.#steps;
    if (!isCut || this.#steps < 0) return isDone;
    this.#skip = skip;
    this.#found.length = count;
    this.#steps -= cost;
    return this.#gather(part, rest);
  }

  #gather(part: Part, { keys, after }: Rest): boolean {
    const all = part.gather();
    const left = after ? all.filter((ordinal) => this.#order.compareToMark(ordinal, keys, after) > 0) : all;
    const window = selectWindow(left, this.#skip, this.#missing - this.#skip, this.#order.ranking(keys));
    this.#skip -= Math.min(this.#skip, left.length);
    return window.some(this.#take);
  }

  #runByRelevance(part: Part, key: SortKey, { keys, after }: Rest): boolean {
    const from = after ? (after.values[0] as number) : null;
    const bands = key.order === 'desc' ? this.#order.relevance : this.#order.relevance.toReversed();
    for (const { value, agents } of bands) {
      if (from !== null && (key.order === 'desc' ? value > from : value < from)) continue;
      const rest = { keys, after: after && value === from ? withoutFirst(after) : null };
      if (this.#run(this.#within(part, agents), rest)) return true;
    }
    return false;
  }

  /** The agents of the part that are in the set too. */
  #within(part: Part, set: OrdinalSet): Part {
    const other = this.#partOf(set);
    const size = Math.min(part.size, set.size);
    const has = (ordinal: number) => part.has(ordinal) && other.has(ordinal);
    if (set.size >= part.candidates) return { ...part, has, size, gather: () => part.gather().filter(other.has) };
    return { ...other, has, size, gather: () => other.gather().filter(part.has) };
  }

  /** Walks all agents in order of the first key. */
  #walk(part: Part, field: ColumnField, rest: Rest): boolean {
    const [key, ...others] = rest.keys as [SortKey, ...SortKey[]];
    const isForward = key.order === bestFirst[field];
    const isIdOrder = (this.#search.order.byId === 'asc') === isForward;
    if (others.length > 0 || !isIdOrder) return this.#walkGroups(part, field, isForward, { ...rest, keys: others });
    const list = this.#shelf.orders.by(field);
    const spot = rest.after && this.#spotOf(field, rest.after, isForward);
    return isForward
      ? list.forward(spot ?? list.start, list.end, this.#visit(part))
      : list.backward(list.start, spot ?? list.end, this.#visit(part));
  }

  #walkIds(part: Part, after: Mark | null): boolean {
    const list = this.#shelf.orders.by('id');
    const isForward = this.#search.order.byId === 'asc';
    const spot = after && list.seek((ordinal) => this.#order.compareToId(ordinal, after.id) >= (isForward ? 1 : 0));
    return isForward
      ? list.forward(spot ?? list.start, list.end, this.#visit(part))
      : list.backward(list.start, spot ?? list.end, this.#visit(part));
  }

  #visit(part: Part): (ordinal: number) => boolean {
    return (ordinal) => --this.#steps < 0 || (part.has(ordinal) && this.#take(ordinal));
  }

  /** Position after the mark, going forward; before it, going backward. */
  #spotOf(field: ColumnField, { values, id }: Mark, isForward: boolean): Spot {
    const sign = bestFirst[field] === 'asc' ? 1 : -1;
    const least = isForward ? 1 : 0;
    return this.#shelf.orders.by(field).seek((ordinal) => {
      const difference = sign * this.#order.compareToValue(ordinal, field, values[0] as SortValue);
      return (difference || Math.sign(this.#order.compareToId(ordinal, id))) >= least;
    });
  }

  /** Walks groups of agents with the same value, each in order of the other keys. */
  #walkGroups(part: Part, field: ColumnField, isForward: boolean, { keys, after }: Rest): boolean {
    const list = this.#shelf.orders.by(field);
    let from = isForward ? list.start : list.end;
    let mark = after;
    for (;;) {
      const value = mark ? (mark.values[0] as SortValue) : this.#nextValue(part, field, from, isForward);
      if (value === null) return this.#steps < 0;
      const group = this.#groupOf(field, value);
      if (this.#run(this.#partIn(part, group), { keys, after: mark && withoutFirst(mark) })) return true;
      if (--this.#steps < 0) return true;
      from = isForward ? group.end : group.start;
      mark = null;
    }
  }

  /** The value of the next match; null when there is none, or no steps are left. */
  #nextValue(part: Part, field: ColumnField, from: Spot, isForward: boolean): SortValue | null {
    const list = this.#shelf.orders.by(field);
    let value: SortValue | null = null;
    const visit = (ordinal: number) => {
      if (--this.#steps < 0) return true;
      if (!part.has(ordinal)) return false;
      value = this.#shelf.columns.valueOf(field, ordinal);
      return true;
    };
    if (isForward) list.forward(from, list.end, visit);
    else list.backward(list.start, from, visit);
    return value;
  }

  #groupOf(field: ColumnField, value: SortValue): Group {
    const list = this.#shelf.orders.by(field);
    const sign = bestFirst[field] === 'asc' ? 1 : -1;
    const compare = (ordinal: number) => sign * this.#order.compareToValue(ordinal, field, value);
    const start = list.seek((ordinal) => compare(ordinal) >= 0);
    return { field, value, start, end: list.seek((ordinal) => compare(ordinal) > 0) };
  }

  #partIn(part: Part, { field, value, start, end }: Group): Part {
    const { columns, orders } = this.#shelf;
    const list = orders.by(field);
    const group = list.distance(start, end);
    const size = (part.size * group) / Math.max(1, list.size);
    const has = (ordinal: number) => columns.valueOf(field, ordinal) === value && part.has(ordinal);
    if (part.candidates < group) return { ...part, has, size, gather: () => part.gather().filter(has) };
    const gather = () => {
      const members: number[] = [];
      list.forward(start, end, (ordinal) => {
        if (part.has(ordinal)) members.push(ordinal);
        return false;
      });
      return Int32Array.from(members);
    };
    return { has, size, candidates: group, cost: group * this.#costs.ofBits, gather };
  }

  #partOf(set: OrdinalSet): Part {
    const { size } = set;
    const cost = size * (set.list ? this.#costs.ofList : this.#costs.ofBits);
    // Searched for in a list each agent would take ten times as long.
    let bits = set.bits;
    const has = (ordinal: number) => {
      bits ??= bitsOf(set, this.#shelf.postings.words);
      return hasBit(bits, ordinal);
    };
    return { has, size, candidates: size, cost, gather: () => ordinalsOf(set) };
  }
}

const withoutFirst = (mark: Mark): Mark => ({ ...mark, values: mark.values.slice(1) });
