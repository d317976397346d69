import type { AgentSearch, AgentSortField } from '@agent-network/contracts/agents/agent-search';
import { type Direction, fieldOf, forEachField, numberFieldNames } from './listing-fields.ts';

export interface SortKey {
  readonly field: AgentSortField;
  readonly order: Direction;
}

/** A total order: keys in turn, then the id. */
export interface SearchOrder {
  readonly keys: readonly SortKey[];
  readonly byId: Direction;
}

/** The direction that puts the best first. */
export const bestFirst: Record<AgentSortField, Direction> = {
  ...forEachField(numberFieldNames, (name) => fieldOf(name).best),
  name: 'asc',
  relevance: 'desc',
};

export const bestReputationFirst: SearchOrder = { keys: [{ field: 'reputation', order: 'desc' }], byId: 'asc' };

const bestMatchFirst: SearchOrder = {
  keys: [{ field: 'relevance', order: 'desc' }, ...bestReputationFirst.keys],
  byId: 'asc',
};

/**
 * The order of a search; without a wish, best reputation first, or best match for a text. Ids decide among equals, backwards in
 * an order that puts the worst first: so a reversed order gives the list exactly reversed, and one index serves both.
 */
export function orderOf(sort: AgentSearch['sort'], hasText: boolean): SearchOrder {
  const asked = sort.filter(({ field }) => hasText || field !== 'relevance');
  const [first, ...rest] = asked;
  if (first) return { keys: [first, ...rest], byId: first.order === bestFirst[first.field] ? 'asc' : 'desc' };
  return hasText ? bestMatchFirst : bestReputationFirst;
}
