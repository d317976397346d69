import type { HasDb } from '../db/database.ts';
import type { Tx } from '../db/sql.ts';
import { type Bits, capabilityBits, wordBits } from './search-bits.ts';
import { type BitsQuestion, countByBits, planByBits, readBitsPage } from './search-bits-store.ts';
import { isCounted, isOpenToAll, type SearchFilter } from './search-filter.ts';
import { bestReputationFirst, isBestMatchFirst } from './search-order.ts';
import type { FoundAgent, PageWish, SearchPage } from './search-sql.ts';
import { readListedPage, readTermCounts, type TermCounts, type Walk, walkFor } from './search-store.ts';
import { capabilityTerm, termsQuery, type Wanted, type Wording, wordsQuery } from './words.ts';

export interface SearchQuestion extends PageWish {
  readonly wanted: Wanted;
  /** Words that name, tags or description hold, all of them; null when no text is asked for. */
  readonly words: readonly string[] | null;
  readonly filter: SearchFilter;
}

/** A shorter last word is taken as it is: too many words begin with it. */
const MIN_OPEN_CHARS = 3;
/** What it takes to gather agents and sort them, in agents looked at in order: at the beginning, and for each. */
const GATHERING_COSTS = 8000;
const GATHERING_ONE_COSTS = 20;

/**
 * One page of the agents that match, and how many match, exactly: both of the same moment. A last word that no agent has is taken
 * for the beginning of one.
 */
export function readSearchPage(ctx: HasDb, question: SearchQuestion): Promise<SearchPage> {
  const { wanted, words, filter } = question;
  if (words?.length === 0) return Promise.resolve({ total: 0, agents: [] });
  const [capability = '', ...others] = wanted.all;
  if (words === null && wanted.any.length + others.length === 0 && isOpenToAll(filter)) {
    const walk = walkFor(question, capability);
    if (walk && isAllThere(walk, question)) return readListedPage(ctx.db, walk, question);
  }
  return ctx.db.transaction((tx) => searchByBits(tx, question), { isolation: 'repeatable read' });
}

async function searchByBits(tx: Tx, question: SearchQuestion): Promise<SearchPage> {
  const { wanted, words, filter } = question;
  await planByBits(tx);
  const last = words?.at(-1) ?? '';
  const known = [...wanted.all.map(capabilityTerm), ...(words ? ['', '+', '#'].map((mark) => `${mark}${last}`) : [])];
  const counts = await readTermCounts(tx, ['', ...known], filter);
  const wording = words && { words, isOpen: last.length >= MIN_OPEN_CHARS && counts(last).all === 0 };
  const asked: BitsQuestion = {
    bits: [...capabilityBits(wanted), ...(wording ? wordBits(wording, '') : [])],
    terms: termsQuery(wanted, wording),
    inTitle: wording ? wordsQuery(wording, '+') : '',
    inName: wording ? wordsQuery(wording, '#') : '',
    filter,
  };
  return wording && isBestMatchFirst(question.order)
    ? readBestMatches(tx, question, asked, wording, counts)
    : readMatches(tx, question, asked, counts);
}

async function readMatches(
  tx: Tx,
  question: SearchQuestion,
  asked: BitsQuestion,
  counts: TermCounts,
): Promise<SearchPage> {
  const [total = 0] = knownTotal(question, counts) ?? (await countByBits(tx, asked, []));
  return { total, agents: await readPart(tx, question, asked, { relevance: null, size: total }, counts) };
}

/** Those that have the words in the name first, then in the tags, then the rest, as far as needed. */
async function readBestMatches(
  tx: Tx,
  question: SearchQuestion,
  asked: BitsQuestion,
  wording: Wording,
  counts: TermCounts,
): Promise<SearchPage> {
  const [title, name] = [wordBits(wording, '+'), wordBits(wording, '#')];
  const [total = 0, inTitle = 0, inName = 0] =
    knownTotal(question, counts) ?? (await countByBits(tx, asked, [title, name]));
  const parts: { readonly relevance: number; readonly size: number; readonly bits: Bits[] }[] = [
    { relevance: 2, size: inName, bits: name },
    { relevance: 1, size: inTitle - inName, bits: [...title, { not: { all: name } }] },
    { relevance: 0, size: total - inTitle, bits: [{ not: { all: title } }] },
  ];
  const [from, ...keys] = question.after?.keys ?? [];
  const agents: FoundAgent[] = [];
  let offset = question.offset;
  for (const { bits, ...part } of parts) {
    const limit = question.limit - agents.length;
    if (limit === 0 || (from !== undefined && part.relevance > Number(from))) continue;
    if (part.size > offset) {
      const after = question.after && String(part.relevance) === from ? { keys, id: question.after.id } : null;
      const wish = { ...question, order: bestReputationFirst, after, limit, offset };
      const found = await readPart(tx, wish, { ...asked, bits: [...bits, ...asked.bits] }, part, counts);
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
  if (!isCounted(filter) || wanted.any.length > 0) return null;
  const [capability = '', ...others] = wanted.all;
  if (words === null) return others.length === 0 ? [counts(capabilityTerm(capability)).fitting] : null;
  const [word = '', ...more] = words;
  const isOne = more.length === 0 && wanted.all.length === 0 && counts(word).all > 0;
  return isOne ? ['', '+', '#'].map((mark) => counts(`${mark}${word}`).fitting) : null;
}

interface Part {
  readonly relevance: number | null;
  readonly size: number;
}

/** Looks at agents in order until there are enough, or gathers all: whichever is likely to be less work. */
async function readPart(
  tx: Tx,
  question: SearchQuestion,
  asked: BitsQuestion,
  { relevance, size }: Part,
  counts: TermCounts,
): Promise<FoundAgent[]> {
  if (size === 0) return [];
  const sizeOf = (capability: string) => counts(capabilityTerm(capability)).all;
  const rarest = question.wanted.all.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0] ?? '';
  const walk = walkFor(question, rarest);
  const among = walk === null || walk === 'agents' ? '' : walk.capability;
  const walkCosts = Math.min(1, (question.offset + question.limit) / size) * sizeOf(among);
  const isWalk = walkCosts < GATHERING_COSTS + GATHERING_ONE_COSTS * size;
  if (isWalk && walk && isAllThere(walk, question)) return (await readListedPage(tx, walk, question)).agents;
  return readBitsPage(tx, { ...question, ...asked, walk: isWalk ? walk : null, relevance });
}

/** Whether who stands there, and passes the filter, matches. */
function isAllThere(walk: Walk, { wanted, words }: SearchQuestion): boolean {
  const there = walk === 'agents' ? '' : walk.capability;
  return words === null && wanted.any.length === 0 && wanted.all.every((capability) => capability === there);
}
