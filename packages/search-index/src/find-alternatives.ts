import { flags } from './agent-terms.ts';
import { findMatches } from './find-matches.ts';
import type { AlternativeWish, ListingSearch, SearchFilter } from './listing.ts';
import { amountKey } from './listing-fields.ts';
import { PageReader } from './read-page.ts';
import { noRelevance } from './relevance.ts';
import { bestReputationFirst, type SearchOrder } from './search-order.ts';
import { intersect, keepIf, type OrdinalSet, unite } from './sets.ts';
import { agentsWith, type Shelf } from './shelf.ts';

const MAX_FOUND = 30;
const CANDIDATES = 100;
const MAX_TERMS = 60;

const dearestFirst: SearchOrder = { keys: [{ field: 'rates.perRequest', order: 'desc' }], byId: 'desc' };
const everyone = { wanted: { any: [], all: [], texts: [] }, words: null } as const;

/** See `ListingIndex.sharing`. */
export function findSharing(
  shelf: Shelf,
  wanted: { capabilities: readonly string[]; perRequestMicro: bigint },
  wish: AlternativeWish,
): string[] {
  const { maxPerRequestMicro: most } = wish;
  const nearest = most !== null && most < wanted.perRequestMicro ? most : wanted.perRequestMicro;
  // The place before the first agent of that price.
  const after = { keys: [String(nearest + 1n)], id: '' };
  const shared = new Map<number, number>();
  for (const capability of new Set(wanted.capabilities)) {
    const fitting = online(shelf, capability, most);
    const found = new Set([
      ...firstOf(shelf, fitting, { order: bestReputationFirst, after: null, limit: CANDIDATES }),
      ...firstOf(shelf, fitting, { order: dearestFirst, after, limit: CANDIDATES }),
    ]);
    for (const ordinal of found) shared.set(ordinal, (shared.get(ordinal) ?? 0) + 1);
  }
  const { columns } = shelf;
  const reputationOf = (ordinal: number) => columns.numbers.reputation[ordinal] as number;
  return [...shared]
    .filter(([ordinal]) => !wish.except.includes(columns.ids[ordinal] as string))
    .sort(([a, ofA], [b, ofB]) => ofB - ofA || reputationOf(b) - reputationOf(a) || columns.compareIds(a, b))
    .slice(0, MAX_FOUND)
    .map(([ordinal]) => columns.ids[ordinal] as string);
}

const online = (shelf: Shelf, capability: string, most: bigint | null): OrdinalSet =>
  findMatches(shelf, {
    ...everyone,
    wanted: { ...everyone.wanted, all: [capability] },
    filter: onlineUpTo(most),
  });

const onlineUpTo = (maxMicro: bigint | null): SearchFilter => ({
  isOnline: [true],
  isVerified: [true, false],
  limits: maxMicro === null ? [] : [{ field: 'rates.perRequest', key: amountKey(maxMicro) }],
});

/** See `ListingIndex.withTerms`. */
export function findWithTerms(shelf: Shelf, terms: readonly string[], wish: AlternativeWish): string[] {
  const rarest = [...new Set(terms)]
    .map((term) => intersect(agentsWith(shelf, term), agentsWith(shelf, flags.online)))
    .filter(({ size }) => size > 0)
    .sort((a, b) => a.size - b.size);
  const price = shelf.columns.numbers['rates.perRequest'];
  const most = wish.maxPerRequestMicro === null ? null : amountKey(wish.maxPerRequestMicro);
  const any = unite(rarest.slice(0, MAX_TERMS), shelf.postings.words);
  const fitting = most === null ? any : keepIf(any, (ordinal) => (price[ordinal] as number) <= most);
  return firstOf(shelf, fitting, { order: bestReputationFirst, after: null, limit: MAX_FOUND + wish.except.length })
    .map((ordinal) => shelf.columns.ids[ordinal] as string)
    .filter((id) => !wish.except.includes(id))
    .slice(0, MAX_FOUND);
}

export function firstOf(
  shelf: Shelf,
  matches: OrdinalSet,
  page: Pick<ListingSearch, 'order' | 'after' | 'limit'>,
): number[] {
  const search = { ...everyone, filter: onlineUpTo(null), ...page, offset: 0 };
  return new PageReader(shelf, search, noRelevance).read(matches).shown;
}
