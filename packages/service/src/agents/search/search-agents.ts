import type { AgentFacets } from '@agent-network/contracts/agents/agent-figures';
import type { AgentQuery, AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { FacetQuestion, ListingQuestion, Meant, PageEnd, SearchFilter } from '@agent-network/search-index/listing';
import { limitsIn, limitsOf } from '@agent-network/search-index/listing-fields';
import { bestReputationFirst, orderOf } from '@agent-network/search-index/search-order';
import { searchWords } from '@agent-network/search-index/words/task-words';
import { wantedOf } from '@agent-network/search-index/words/words';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { formatDuration } from '../../lib/duration.ts';
import { preparedArray } from '../../lib/json/prepared-json.ts';
import { decodeCursor, encodeCursor } from '../../lib/page-position.ts';
import type { AgentServices } from '../agent-services.ts';
import type { Listed } from './listing.ts';

/** Services of a search. */
export type SearchContext = Pick<AgentServices, 'listing' | 'meaning'> & Pick<NodeKeys, 'secrets'>;

/** An answer, with the relevance of each agent, 0 to 1. */
export interface Found {
  readonly answer: Listed<DataOf<Api['searchAgents']>>;
  readonly scores: readonly number[];
}

/** Characters of a text that is searched by. */
const MAX_TEXT = 200;

/** The beginning of a text that may be longer, up to the end of a word. */
export function searchTextOf(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const head = text.slice(0, MAX_TEXT + 1);
  const space = head.search(/\s\S*$/);
  return head.slice(0, space > 0 ? space : MAX_TEXT).toWellFormed();
}

/** Finds the agents that match every part of the query, in the order asked for, with the exact total. */
export const searchAgents = async (ctx: SearchContext, input: AgentSearch): Promise<Found['answer']> =>
  (await searchWithScores(ctx, input)).answer;

/** Like `searchAgents`, with the scores. */
export async function searchWithScores(ctx: SearchContext, input: AgentSearch): Promise<Found> {
  const startMs = performance.now();
  const { query, limit, offset, cursor, by } = input;
  if (cursor !== undefined && offset > 0) throw invalid('cursor', 'cannot be used together with offset');
  const order = orderOf(input.sort, query.text !== undefined);
  const name = JSON.stringify(by === 'auto' ? [query, order] : [query, order, by]);
  const place = cursor === undefined ? null : readSearchCursor(ctx, name, cursor);
  const question = {
    wanted: wantedOf(query),
    words: query.text === undefined ? null : searchWords(query.text),
    filter: filterOf(query),
  };
  const meant = await meantBy(ctx, input, question, place);
  const { total, hits, next } = await ctx.listing.read((index) =>
    index.search({ ...question, meant, order, after: place, limit, offset }),
  );
  const answer = {
    agents: preparedArray(hits.map(({ item }) => item)),
    total,
    hasMore: next !== null,
    nextCursor: next && makeSearchCursor(ctx, name, { ...next, asOfMs: meant?.asOfMs ?? null }),
    query,
    ...(query.text === undefined ? {} : { rankedBy: meant ? ('meaning' as const) : ('words' as const) }),
    executionTime: formatDuration(performance.now() - startMs),
  };
  return { answer, scores: hits.map(({ score }) => score) };
}

/**
 * Agents that mean what the text does; null: the search is by words. Pages behind the first are ranked as that was. Throws UNAVAILABLE when
 * such a page cannot be.
 */
async function meantBy(
  { meaning }: SearchContext,
  { query: { text }, sort, by }: AgentSearch,
  question: ListingQuestion,
  place: SearchPlace | null,
): Promise<Meant | null> {
  if (text === undefined || question.words?.length === 0) return null;
  const isByWords = place === null ? by === 'words' || sort.length > 0 : place.asOfMs === null;
  if (isByWords) return null;
  const isPatient = by === 'meaning' || place !== null;
  const meant = await meaning.closest({ text, question, asOfMs: place?.asOfMs ?? null, isPatient });
  if (place !== null && meant === null)
    throw new AppError(
      'UNAVAILABLE',
      'The next page needs search by meaning, which is temporarily unavailable. Repeat the request later.',
      {
        details: { outcome: 'nothing' },
      },
    );
  return meant;
}

const filterOf = (query: AgentQuery): SearchFilter => ({
  isOnline: query.online === undefined ? [true, false] : [query.online],
  isVerified: query.verified === undefined ? [true, false] : [query.verified],
  limits: limitsOf(query),
});

const PURPOSE = 'search-place';

/** The end of a page, and, of a page by meaning, up to when vectors count. */
export interface SearchPlace extends PageEnd {
  /** null: by words. */
  readonly asOfMs: number | null;
}

/** A cursor that holds for this question only: `question` names query, sort and ranking. */
export function makeSearchCursor(
  ctx: Pick<NodeKeys, 'secrets'>,
  question: string,
  { keys, id, asOfMs }: SearchPlace,
): string {
  const place = JSON.stringify([...(asOfMs === null ? [] : [asOfMs]), ...keys, id]);
  return `${Buffer.from(place).toString('base64url')}.${ctx.secrets.authenticate(PURPOSE, [question, place])}`;
}

/** Throws VALIDATION_ERROR for a cursor that was altered, or made for another question or by another node. */
export function readSearchCursor(ctx: Pick<NodeKeys, 'secrets'>, question: string, cursor: string): SearchPlace {
  const [text = '', code = ''] = cursor.split('.');
  const place = Buffer.from(text, 'base64url').toString();
  if (!ctx.secrets.isAuthentic(PURPOSE, [question, place], code))
    throw invalid('cursor', 'is not one that this node made for this query and sort');
  const values = JSON.parse(place) as (string | number)[];
  const asOfMs = typeof values[0] === 'number' ? values[0] : null;
  const texts = values.filter((value) => typeof value === 'string');
  return { keys: texts.slice(0, -1), id: texts.at(-1) as string, asOfMs };
}

type FacetQuery = Parsed<Api['getAgentFacets']>['query'];

/** Counts facets, exactly and all of the same moment. */
export async function countFacets(
  ctx: AgentServices & { readonly nodeLabel: string },
  query: FacetQuery,
): Promise<AgentFacets> {
  const question = toQuestion(query);
  const { homes, capabilities, ...counts } = await ctx.listing.read((index) => index.facets(question));
  return {
    ...counts,
    capabilities: [...capabilities],
    locations: homes.map(({ home, count }) => ({
      value: home === null ? ctx.nodeLabel : ctx.listing.labelOf(home),
      nodeId: home,
      count,
    })),
  };
}

function toQuestion({ status, verified, text, ...query }: FacetQuery): FacetQuestion {
  const { capability, any, all = [], ...rest } = query;
  return {
    wanted: wantedOf({ ...rest, capabilities: { any, all: capability === undefined ? all : [...all, capability] } }),
    beside: all,
    words: text === undefined ? null : searchWords(text),
    filter: {
      isOnline: status === 'online' ? [true] : status === 'offline' ? [false] : [true, false],
      isVerified: verified === undefined ? [true, false] : [verified === 'true'],
      limits: limitsIn(rest),
    },
  };
}

const isOnlineFor = { online: [true], offline: [false], all: [true, false] };
const DEFAULT_LIMIT = 20;

/** Lists agents that match every filter, best reputation first, with the exact total. */
export async function discoverAgents(
  ctx: AgentServices,
  query: Parsed<Api['listAgents']>['query'],
): Promise<Listed<DataOf<Api['listAgents']>>> {
  if (query.cursor !== undefined && query.offset !== undefined)
    throw invalid('cursor', 'cannot be used together with offset');
  const search = {
    wanted: { any: [], all: query.capability === undefined ? [] : [query.capability], texts: [] },
    words: null,
    filter: {
      isOnline: isOnlineFor[query.status ?? 'all'],
      isVerified: [true, false],
      limits: limitsIn(query),
    },
    order: bestReputationFirst,
    after: query.cursor === undefined ? null : readCursor(query.cursor),
    limit: query.limit ?? DEFAULT_LIMIT,
    offset: query.offset ?? 0,
  };
  const { total, hits, next } = await ctx.listing.read((index) => index.search(search));
  return {
    agents: preparedArray(hits.map(({ item }) => item)),
    total,
    hasMore: next !== null,
    nextCursor: next && makeCursor(next),
  };
}

const makeCursor = ({ keys: [reputation], id }: PageEnd) => encodeCursor(`${reputation}.${id}`);

function readCursor(cursor: string): PageEnd {
  const [reputation = '', id = ''] = decodeCursor(cursor, /^(\d{1,4})\.([a-z]{3}_[0-9a-z]+)$/);
  return { keys: [reputation], id };
}
