import type { HasDb } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import type { Place } from './search-cursor.ts';
import { bestReputationFirst, isBestMatchFirst, type SearchOrder } from './search-order.ts';
import {
  type FoundAgent,
  isCounted,
  readPlannedPage,
  readTermCounts,
  type SearchFilter,
  type SearchPage,
} from './search-store.ts';
import { termsQuery, type Wanted, type Wording, wordsQuery } from './words.ts';

export interface TextQuestion {
  readonly words: readonly string[];
  readonly wanted: Wanted;
  readonly filter: SearchFilter;
  readonly order: SearchOrder;
  readonly after: Place | null;
  readonly limit: number;
  readonly offset: number;
}

/** A shorter last word is taken as it is: too many words begin with it. */
const MIN_OPEN_CHARS = 3;
/** From how many times the square root of all agents on it is quicker to walk through them in order than to gather and sort. */
const WALK_FROM = 5;

type Counts = (term: string) => { all: number; fitting: number };

/**
 * Agents whose name, tags or description hold all of these words. A last word that no agent has is taken for the beginning of one.
 * Everything is read in one snapshot.
 */
export const searchText = (ctx: HasDb, question: TextQuestion): Promise<SearchPage> =>
  ctx.db.transaction(
    async (tx) => {
      const [first = '', last = first] = [question.words[0], question.words.at(-1)];
      const found = await readTermCounts(tx, ['', last, `+${last}`, `#${last}`], question.filter);
      const counts: Counts = (term) => found.get(term) ?? { all: 0, fitting: 0 };
      const isOpen = last.length >= MIN_OPEN_CHARS && counts(last).all === 0;
      const { words, wanted, filter, order, offset } = question;
      const isOneTerm = words.length === 1 && !isOpen && wanted.any.length + wanted.all.length === 0;
      if (isOneTerm && isCounted(filter) && isBestMatchFirst(order) && offset === 0)
        return readByRelevance(tx, question, first, counts);
      return readAll(tx, question, { words, isOpen });
    },
    { isolation: 'repeatable read' },
  );

/** Gathers all that match, counts and sorts them. */
function readAll(tx: Sql, { wanted, ...query }: TextQuestion, wording: Wording): Promise<SearchPage> {
  const among = {
    terms: termsQuery(wanted, wording),
    inName: wordsQuery(wording, '#'),
    inTitle: wordsQuery(wording, '+'),
  };
  return readPlannedPage(tx, { ...query, among, total: 'count' });
}

/** For one word, whose counts are kept: those that have it in the name first, then in the tags, then the rest, as far as needed. */
async function readByRelevance(
  tx: Sql,
  { filter, after, limit }: TextQuestion,
  word: string,
  counts: Counts,
): Promise<SearchPage> {
  const ofAll = counts(word).fitting;
  const [inTitle, inName] = [counts(`+${word}`).fitting, counts(`#${word}`).fitting];
  const classes = [
    { relevance: '2', terms: `'#${word}'`, size: inName },
    { relevance: '1', terms: `'+${word}' & !'#${word}'`, size: inTitle - inName },
    { relevance: '0', terms: `'${word}' & !'+${word}'`, size: ofAll - inTitle },
  ];
  const agents: FoundAgent[] = [];
  for (const { relevance, terms, size } of classes) {
    const [from, ...keys] = after?.keys ?? [];
    if (size === 0 || agents.length === limit || (from !== undefined && relevance > from)) continue;
    const isWalk = size > WALK_FROM * Math.sqrt(counts('').all);
    const page = await readPlannedPage(tx, {
      among: isWalk ? { walkedFor: terms } : { terms, inName: '', inTitle: '' },
      total: { known: ofAll },
      filter,
      order: bestReputationFirst,
      after: after && relevance === from ? { keys, id: after.id } : null,
      limit: limit - agents.length,
      offset: 0,
    });
    const placed = page.agents.map((agent) => ({
      ...agent,
      place: { keys: [relevance, ...agent.place.keys], id: agent.id },
    }));
    agents.push(...placed);
  }
  return { total: ofAll, agents };
}
