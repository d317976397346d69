import { flags } from './agent-terms.ts';
import type { ListingQuestion, SearchFilter } from './listing.ts';
import { agentsOf, relevanceOf } from './relevance.ts';
import { bestFirst } from './search-order.ts';
import { emptySet, intersectAll, keepIf, type OrdinalSet, unite } from './sets.ts';
import { agentsWith, type Shelf } from './shelf.ts';
import { capabilityTerm } from './words/words.ts';

/** A question as a text: the same one for the same parts. */
export const keyOf = (...parts: unknown[]): string =>
  JSON.stringify(parts, (_name, value) => (typeof value === 'bigint' ? value.toString() : value));

/** The agents that match every part of the question. */
export function findMatches(shelf: Shelf, { wanted, words, filter }: ListingQuestion): OrdinalSet {
  return shelf.cached.matches.get(
    keyOf(wanted, words, filter),
    () => matchesOf(shelf, { wanted, words, filter }),
    ({ list, bits }) => (list ?? bits ?? []).length * 4,
  );
}

function matchesOf(shelf: Shelf, { wanted, words, filter }: ListingQuestion): OrdinalSet {
  if (words?.length === 0) return emptySet;
  const having = (capability: string) => agentsWith(shelf, capabilityTerm(capability));
  const sets = [
    ...wanted.all.map(having),
    ...(wanted.any.length === 0 ? [] : [unite(wanted.any.map(having), shelf.postings.words)]),
    ...wanted.texts.map((term) => agentsWith(shelf, term)),
    ...statesOf(filter).map((state) => agentsWith(shelf, state)),
    ...(words === null ? [] : [agentsOf(shelf, relevanceOf(shelf, words))]),
  ];
  return withinLimits(shelf, intersectAll(sets), filter);
}

function statesOf({ isOnline, isVerified }: SearchFilter): string[] {
  return [
    ...(isOnline.length === 1 ? [isOnline[0] ? flags.online : flags.offline] : []),
    ...(isVerified.length === 1 ? [isVerified[0] ? flags.verified : flags.unverified] : []),
  ];
}

/** Applies the limits. `matches`: the result of all other conditions; null: all agents. */
function withinLimits(shelf: Shelf, matches: OrdinalSet | null, { limits }: SearchFilter): OrdinalSet {
  if (limits.length === 0) return matches ?? agentsWith(shelf, flags.all);
  const { columns, orders } = shelf;
  if (!matches?.list) {
    const ranges = limits.map(({ field, key }) => orders.upTo(field, key));
    return intersectAll(matches ? [matches, ...ranges] : ranges) ?? emptySet;
  }
  return limits.reduce((found, { field, key }) => {
    const column = columns.numbers[field];
    const isDescending = bestFirst[field] === 'desc';
    return keepIf(found, (ordinal) =>
      isDescending ? (column[ordinal] as number) >= key : (column[ordinal] as number) <= key,
    );
  }, matches);
}
