import { flags, homeTerm, type Level, setId } from './agent-terms.ts';
import { amountKey } from './columns.ts';
import type { ListingQuestion } from './listing.ts';
import type { SearchFilter } from './search-filter.ts';
import { emptySet, intersect, keepIf, type OrdinalSet, unite } from './sets.ts';
import { agentsWith, type Shelf } from './shelf.ts';
import { capabilityTerm } from './words.ts';

/** Words of a question, each as the terms that it stands for. */
export type Wording = readonly (readonly number[])[];

export const wordingOf = ({ lexicon }: Shelf, words: readonly string[]): Wording =>
  words.map((word, index) => lexicon.resolve(word, index === words.length - 1));

/** The agents that match every part of the question. */
export function findMatches(shelf: Shelf, question: ListingQuestion): OrdinalSet {
  const { wanted, words, filter } = question;
  if (words?.length === 0) return emptySet;
  const having = (capability: string) => agentsWith(shelf, capabilityTerm(capability));
  const sets = [
    ...wanted.all.map(having),
    ...(wanted.any.length === 0 ? [] : [unite(wanted.any.map(having), shelf.postings.words)]),
    ...(wanted.home === null ? [] : [agentsWith(shelf, homeTerm(wanted.home))]),
    ...statesOf(filter).map((state) => agentsWith(shelf, state)),
    ...(words === null ? [] : wordSets(shelf, wordingOf(shelf, words), 0)),
  ];
  const matches = allOf(sets) ?? agentsWith(shelf, flags.all);
  return withinLimits(shelf, matches, filter);
}

export function wordSets({ postings }: Shelf, wording: Wording, level: Level): OrdinalSet[] {
  return wording.map((terms) =>
    unite(
      terms.map((term) => postings.view(setId(term, level))),
      postings.words,
    ),
  );
}

/** Those in all sets; null without sets. */
export function allOf(sets: readonly OrdinalSet[]): OrdinalSet | null {
  const [first, ...others] = sets.toSorted((a, b) => a.size - b.size);
  if (first === undefined) return null;
  return others.reduce((found, each) => (found.size === 0 ? found : intersect(found, each)), first);
}

function statesOf({ isOnline, isVerified }: SearchFilter): string[] {
  return [
    ...(isOnline.length === 1 ? [isOnline[0] ? flags.online : flags.offline] : []),
    ...(isVerified.length === 1 ? [isVerified[0] ? flags.verified : flags.unverified] : []),
  ];
}

function withinLimits({ columns }: Shelf, matches: OrdinalSet, filter: SearchFilter): OrdinalSet {
  const { minReputation, maxPriceMicro, maxPerHourMicro } = filter;
  if (minReputation <= 0 && maxPriceMicro === null && maxPerHourMicro === null) return matches;
  const { reputation, 'rates.perRequest': price, 'rates.perHour': perHour } = columns.numbers;
  const most = maxPriceMicro === null ? Number.POSITIVE_INFINITY : amountKey(maxPriceMicro);
  const mostPerHour = maxPerHourMicro === null ? Number.POSITIVE_INFINITY : amountKey(maxPerHourMicro);
  return keepIf(
    matches,
    (ordinal) =>
      (reputation[ordinal] as number) >= minReputation &&
      (price[ordinal] as number) <= most &&
      (perHour[ordinal] as number) <= mostPerHour,
  );
}
