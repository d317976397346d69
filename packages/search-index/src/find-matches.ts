import { flags, type Level, setId } from './agent-terms.ts';
import type { ListingQuestion, SearchFilter } from './listing.ts';
import { bestFirst } from './search-order.ts';
import { emptySet, intersectAll, keepIf, type OrdinalSet, overlaps, unite } from './sets.ts';
import { agentsWith, type Shelf, type Wording } from './shelf.ts';
import { capabilityTerm } from './words/words.ts';

export const wordingOf = (shelf: Shelf, words: readonly string[]): Wording =>
  shelf.cached.wordings.get(
    keyOf(words),
    () => {
      const isProven = provenTest(shelf);
      return words.map((word, index) => shelf.lexicon.resolve(word, index === words.length - 1, isProven));
    },
    (wording) => wording.reduce((sum, terms) => sum + terms.length * 8, 0),
  );

/** Returns a test that is true for terms of an agent that is online or verified. */
function provenTest(shelf: Shelf): (term: number) => boolean {
  const proven = [agentsWith(shelf, flags.online), agentsWith(shelf, flags.verified)];
  return (term) => {
    const having = shelf.postings.view(setId(term, 0));
    return proven.some((set) => overlaps(having, set));
  };
}

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
    ...(words === null ? [] : wordSets(shelf, wordingOf(shelf, words), 0)),
  ];
  return withinLimits(shelf, intersectAll(sets), filter);
}

export function wordSets({ postings }: Shelf, wording: Wording, level: Level): OrdinalSet[] {
  return wording.map((terms) =>
    unite(
      terms.map((term) => postings.view(setId(term, level))),
      postings.words,
    ),
  );
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
