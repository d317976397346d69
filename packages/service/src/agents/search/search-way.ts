import type { AgentSortField } from '@agent-network/contracts/agents/agent-search';
import type { SearchFilter } from './index/search-filter.ts';
import { type Head, headOf } from './search-levels.ts';
import type { Sample } from './search-sample-store.ts';
import type { PageWish } from './search-sql.ts';
import type { Walk } from './search-store.ts';

/** Cost parameters of the choice between equivalent query plans. */
export interface SearchCosts {
  /** In agents looked at in order: what it takes to gather agents and sort them, at the beginning and for each, and to read a head. */
  readonly gathering: number;
  readonly gatheringOne: number;
  readonly head: number;
  /** So few that match a text are gathered at once, however well they match it. */
  readonly few: number;
  /** Factor and surplus of a head over the agents needed, so that it is seldom too small. */
  readonly spare: number;
  readonly least: number;
}

export const usualCosts: SearchCosts = { gathering: 1500, gatheringOne: 15, head: 600, few: 100, spare: 2, least: 20 };

/** A head that is most of all agents is not worth reading. */
const MOST = 0.5;

/** Size of the question: the number of matches, and of the agents that the walk covers. */
interface Matches {
  readonly walk: Walk | null;
  readonly among: number;
  readonly size: number;
  readonly sample: Sample;
  readonly filter: SearchFilter;
  readonly costs: SearchCosts;
}

/** The way to a page that is likely to be the least work. */
export function chooseWay(wish: PageWish, matches: Matches): { walk: Walk | null; head: Head | null } {
  const { walk, among, size, costs } = matches;
  const needed = wish.offset + wish.limit;
  const gathering = (agents: number) => costs.gathering + costs.gatheringOne * agents;
  const { head, share } = headFor(wish, matches, (needed * costs.spare + costs.least) / size);
  const headCosts = head ? costs.head + gathering(share * size) : Number.POSITIVE_INFINITY;
  const walkCosts = walk ? Math.min(1, needed / size) * among : Number.POSITIVE_INFINITY;
  if (walkCosts <= Math.min(headCosts, gathering(size))) return { walk, head: null };
  return { walk: null, head: headCosts < gathering(size) ? head : null };
}

/** A head that has about such a share of those that match, after the place where the page begins. */
function headFor(
  { order, after }: PageWish,
  { sample, filter }: Matches,
  wanted: number,
): { head: Head | null; share: number } {
  const [first] = order.keys;
  const values = (first && sample[first.field]?.filter(passes(first.field, filter))) ?? [];
  const inOrder = first?.order === 'asc' ? values : values.toReversed();
  const from = Number(after?.keys[0] ?? inOrder[0]);
  const done = inOrder.findIndex((value) => (first?.order === 'asc' ? value >= from : value <= from));
  const share = wanted + Math.max(0, done) / Math.max(1, values.length);
  const value = share < MOST ? inOrder[Math.floor(share * values.length)] : undefined;
  return { head: value === undefined ? null : headOf(order, value), share };
}

/** True when agents with this value of a sort key pass the filter on it. */
const passes =
  (field: AgentSortField, { minReputation, maxPriceMicro, maxPerHourMicro }: SearchFilter) =>
  (value: number): boolean => {
    if (field === 'reputation') return value >= minReputation;
    const max = field === 'rates.perRequest' ? maxPriceMicro : maxPerHourMicro;
    return max === null || value <= Number(max);
  };
