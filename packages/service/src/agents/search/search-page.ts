import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { isCounted, isOpenToAll, type SearchFilter } from './index/search-filter.ts';
import { orderWithinMatches, type SearchOrder } from './index/search-order.ts';
import { capabilityTerm, termsQuery, type Wanted, type Wording, wordsQuery } from './index/words.ts';
import { wantedBits, wordBits } from './search-bits.ts';
import { type BitsQuestion, countByBits, planByBits, readBitsPage } from './search-bits-store.ts';
import type { Bits } from './search-levels.ts';
import { type Sample, sampleOf } from './search-sample-store.ts';
import type { FoundAgent, PageWish, SearchPage } from './search-sql.ts';
import { capabilityOf, readListedPage, readTermCounts, type TermCounts, type Walk, walkFor } from './search-store.ts';
import { chooseWay, type SearchCosts, usualCosts } from './search-way.ts';

export interface SearchQuestion extends PageWish {
  readonly wanted: Wanted;
  /** Words that name, tags or description hold, all of them; null when no text is asked for. */
  readonly words: readonly string[] | null;
  readonly filter: SearchFilter;
}

/** A shorter last word is taken as it is: too many words begin with it. */
const MIN_OPEN_CHARS = 3;

/**
 * One page of the agents that match, and how many match, exactly: both of the same moment. A last word that no agent has is taken
 * for the beginning of one.
 */
export function readSearchPage(ctx: HasDb, question: SearchQuestion, costs = usualCosts): Promise<SearchPage> {
  const { wanted, words, filter } = question;
  if (words?.length === 0) return Promise.resolve({ total: 0, agents: [] });
  const [capability = '', ...others] = wanted.all;
  if (words === null && wanted.home === null && wanted.any.length + others.length === 0 && isOpenToAll(filter)) {
    const walk = walkFor(question, capability);
    if (walk && isAllThere(walk, question)) return readListedPage(ctx.db, walk, question);
  }
  return ctx.db.transaction((tx) => searchByBits(ctx, tx, question, costs), { isolation: 'repeatable read' });
}

/** State shared by the parts of one search. */
interface Searching {
  readonly tx: Tx;
  readonly question: SearchQuestion;
  readonly asked: BitsQuestion;
  readonly counts: TermCounts;
  readonly sample: Sample;
  readonly costs: SearchCosts;
}

async function searchByBits(ctx: HasDb, tx: Tx, question: SearchQuestion, costs: SearchCosts): Promise<SearchPage> {
  const { asked, wording, counts } = await understand(tx, question);
  const searching = { tx, question, asked, counts, costs, sample: await sampleOf(ctx.db, tx) };
  const within = orderWithinMatches(question.order);
  return wording && within ? readByMatch(searching, wording, within) : readMatches(searching, wording);
}

/** The question in terms of bits, and how many agents have what it names. A last word that nobody has is the beginning of one. */
export async function understand(
  tx: Tx,
  { wanted, words, filter }: Pick<SearchQuestion, 'wanted' | 'words' | 'filter'>,
): Promise<{ asked: BitsQuestion; wording: Wording | null; counts: TermCounts }> {
  await planByBits(tx);
  const last = words?.at(-1) ?? '';
  const known = [...wanted.all.map(capabilityTerm), ...(words ? ['', '+', '#'].map((mark) => `${mark}${last}`) : [])];
  const counts = await readTermCounts(tx, ['', ...known], filter);
  const wording = words && { words, isOpen: last.length >= MIN_OPEN_CHARS && counts(last).all === 0 };
  const asked: BitsQuestion = {
    bits: wantedBits(wanted),
    terms: termsQuery(wanted, wording),
    inTitle: wording ? wordsQuery(wording, '+') : '',
    inName: wording ? wordsQuery(wording, '#') : '',
    filter,
  };
  return { asked, wording, counts };
}

/** Position groups of a wording: anywhere, in name or tags, in the name. Each is a subset of the one before. */
const placesOf = (wording: Wording) => (['', '+', '#'] as const).map((mark) => wordBits(wording, mark));

async function readMatches(searching: Searching, wording: Wording | null): Promise<SearchPage> {
  const { tx, question, asked, counts } = searching;
  const groups = wording ? placesOf(wording) : [];
  const [total = 0] = knownTotal(question, counts) ?? (await countByBits(tx, asked, groups.slice(0, 1)));
  return { total, agents: await readPart(searching, question, { relevance: null, size: total, bits: [], groups }) };
}

/** Those that match equally well are sought for themselves, as far as needed; unless all together are few. */
async function readByMatch(searching: Searching, wording: Wording, within: SearchOrder): Promise<SearchPage> {
  const { tx, question, asked, counts, costs } = searching;
  const groups = placesOf(wording);
  const [anywhere = [], title = [], name = []] = groups;
  const [total = 0, inTitle = 0, inName = 0] = knownTotal(question, counts) ?? (await countByBits(tx, asked, groups));
  if (total <= costs.few)
    return { total, agents: await readPart(searching, question, { relevance: null, size: total, bits: [], groups }) };
  const parts = [
    { relevance: 2, size: inName, bits: name },
    { relevance: 1, size: inTitle - inName, bits: [...title, { not: { all: name } }] },
    { relevance: 0, size: total - inTitle, bits: [...anywhere, { not: { all: title } }] },
  ];
  if (question.order.keys[0]?.order === 'asc') parts.reverse();
  const [from, ...keys] = question.after?.keys ?? [];
  const agents: FoundAgent[] = [];
  let offset = question.offset;
  let isDone = from !== undefined;
  for (const part of parts) {
    const limit = question.limit - agents.length;
    const isHere = String(part.relevance) === from;
    isDone &&= !isHere;
    if (limit === 0 || isDone) continue;
    if (part.size > offset) {
      const after = question.after && isHere ? { keys, id: question.after.id } : null;
      const found = await readPart(searching, { order: within, after, limit, offset }, { ...part, groups: [] });
      agents.push(...found.map((each) => placed(each, part.relevance)));
    }
    offset = Math.max(0, offset - part.size);
  }
  return { total, agents };
}

const placed = (agent: FoundAgent, relevance: number): FoundAgent => ({
  ...agent,
  place: { keys: [String(relevance), ...agent.place.keys], id: agent.id },
});

/** Of one capability, or of one word (anywhere, in the title, in the name), counts are kept. */
function knownTotal({ wanted, words, filter }: SearchQuestion, counts: TermCounts): number[] | null {
  if (!isCounted(filter) || wanted.any.length > 0 || wanted.home !== null) return null;
  const [capability = '', ...others] = wanted.all;
  if (words === null) return others.length === 0 ? [counts(capabilityTerm(capability)).fitting] : null;
  const [word = '', ...more] = words;
  const isOne = more.length === 0 && wanted.all.length === 0 && counts(word).all > 0;
  return isOne ? ['', '+', '#'].map((mark) => counts(`${mark}${word}`).fitting) : null;
}

interface Part {
  readonly relevance: number | null;
  readonly size: number;
  /** Sets of this part besides those that all parts share. */
  readonly bits: readonly Bits[];
  /** As in `BitsPageQuery`, whatever the order; or empty. */
  readonly groups: readonly Bits[][];
}

/** Looks at agents in order until there are enough, or gathers those that come first, or all: whichever is likely to be less work. */
async function readPart(
  { tx, question, asked, counts, costs, sample }: Searching,
  wish: PageWish,
  part: Part,
): Promise<FoundAgent[]> {
  if (part.size === 0) return [];
  const sizeOf = (capability: string) => counts(capabilityTerm(capability)).all;
  const rarest = question.wanted.all.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0] ?? '';
  const walk = walkFor(wish, rarest);
  const way = chooseWay(wish, {
    walk,
    among: sizeOf(capabilityOf(walk)),
    size: part.size,
    sample,
    filter: question.filter,
    costs,
  });
  if (way.walk && isAllThere(way.walk, question))
    return (await readListedPage(tx, way.walk, { ...wish, filter: question.filter })).agents;
  const isByMatch = wish.order.keys.some(({ field }) => field === 'relevance');
  const bits = [...part.bits, ...(isByMatch ? [] : (part.groups[0] ?? [])), ...asked.bits];
  const query = { ...wish, ...asked, bits, groups: isByMatch ? part.groups : [], relevance: part.relevance };
  const found = await readBitsPage(tx, { ...query, ...way });
  const isShort = found.length < Math.min(wish.limit, wish.after ? wish.limit : part.size - wish.offset);
  return way.head && isShort ? readBitsPage(tx, { ...query, walk: null, head: null }) : found;
}

/** True when every agent on the walk that passes the filter matches. */
const isAllThere = (walk: Walk, { wanted, words }: SearchQuestion): boolean =>
  words === null &&
  wanted.home === null &&
  wanted.any.length === 0 &&
  wanted.all.every((capability) => capability === capabilityOf(walk));
