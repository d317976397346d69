import type { AgentFacets } from '@agent-network/contracts/agents/agent-figures';
import type { AgentQuery, AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import type { FacetQuestion, PageEnd, SearchFilter } from '@agent-network/search-index/listing';
import { limitsIn, limitsOf } from '@agent-network/search-index/listing-fields';
import { bestReputationFirst, orderOf } from '@agent-network/search-index/search-order';
import { searchWords } from '@agent-network/search-index/words/task-words';
import { wantedOf } from '@agent-network/search-index/words/words';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { invalid } from '../../lib/app-error.ts';
import { formatDuration } from '../../lib/duration.ts';
import { preparedArray } from '../../lib/json/prepared-json.ts';
import { decodeCursor, encodeCursor } from '../../lib/page-position.ts';
import type { AgentServices } from '../agent-services.ts';
import type { Listed } from './listing.ts';

/** Finds the agents that match every part of the query, in the order asked for, with the exact total. */
export async function searchAgents(
  ctx: Pick<AgentServices, 'listing'> & Pick<NodeKeys, 'secrets'>,
  input: AgentSearch,
): Promise<Listed<DataOf<Api['searchAgents']>>> {
  const startMs = performance.now();
  const { query, limit, offset, cursor } = input;
  if (cursor !== undefined && offset > 0) throw invalid('cursor', 'cannot be used together with offset');
  const order = orderOf(input.sort, query.text !== undefined);
  const question = JSON.stringify([query, order]);
  const search = {
    wanted: wantedOf(query),
    words: query.text === undefined ? null : searchWords(query.text),
    filter: filterOf(query),
    order,
    after: cursor === undefined ? null : readSearchCursor(ctx, question, cursor),
    limit,
    offset,
  };
  const { total, hits, next } = await ctx.listing.read((index) => index.search(search));
  return {
    agents: preparedArray(hits.map(({ item }) => item)),
    total,
    hasMore: next !== null,
    nextCursor: next && makeSearchCursor(ctx, question, next),
    query,
    executionTime: formatDuration(performance.now() - startMs),
  };
}

const filterOf = (query: AgentQuery): SearchFilter => ({
  isOnline: query.online === undefined ? [true, false] : [query.online],
  isVerified: query.verified === undefined ? [true, false] : [query.verified],
  limits: limitsOf(query),
});

const PURPOSE = 'search-place';

/** A cursor that holds for this question only: `question` names query and sort. */
export function makeSearchCursor(ctx: Pick<NodeKeys, 'secrets'>, question: string, { keys, id }: PageEnd): string {
  const place = JSON.stringify([...keys, id]);
  return `${Buffer.from(place).toString('base64url')}.${ctx.secrets.authenticate(PURPOSE, [question, place])}`;
}

/** Throws VALIDATION_ERROR for a cursor that was altered, or made for another question or by another node. */
export function readSearchCursor(ctx: Pick<NodeKeys, 'secrets'>, question: string, cursor: string): PageEnd {
  const [text = '', code = ''] = cursor.split('.');
  const place = Buffer.from(text, 'base64url').toString();
  if (!ctx.secrets.isAuthentic(PURPOSE, [question, place], code))
    throw invalid('cursor', 'is not one that this node made for this query and sort');
  const values = JSON.parse(place) as string[];
  return { keys: values.slice(0, -1), id: values.at(-1) as string };
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
