import type { AgentQuery, AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { PageEnd, SearchFilter } from '@agent-network/search-index/listing';
import { limitsOf } from '@agent-network/search-index/listing-fields';
import { orderOf } from '@agent-network/search-index/search-order';
import { wantedOf, wordsOf } from '@agent-network/search-index/words/words';
import { invalid } from '../../lib/app-error.ts';
import { formatDuration } from '../../lib/duration.ts';
import { preparedArray } from '../../lib/json/prepared-json.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import type { HasListing, Listed } from './listing.ts';

/** Finds the agents that match every part of the query, in the order asked for, with the exact total. */
export async function searchAgents(
  ctx: HasListing & HasSecrets,
  input: AgentSearch,
): Promise<Listed<DataOf<Api['searchAgents']>>> {
  const startMs = performance.now();
  const { query, limit, offset, cursor } = input;
  if (cursor !== undefined && offset > 0) throw invalid('cursor', 'cannot be used together with offset');
  const order = orderOf(input.sort, query.text !== undefined);
  const question = JSON.stringify([query, order]);
  const search = {
    wanted: wantedOf(query),
    words: query.text === undefined ? null : wordsOf(query.text),
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
export function makeSearchCursor(ctx: HasSecrets, question: string, { keys, id }: PageEnd): string {
  const place = JSON.stringify([...keys, id]);
  return `${Buffer.from(place).toString('base64url')}.${ctx.secrets.authenticate(PURPOSE, [question, place])}`;
}

/** Throws VALIDATION_ERROR for a cursor that was altered, or made for another question or by another node. */
export function readSearchCursor(ctx: HasSecrets, question: string, cursor: string): PageEnd {
  const [text = '', code = ''] = cursor.split('.');
  const place = Buffer.from(text, 'base64url').toString();
  if (!ctx.secrets.isAuthentic(PURPOSE, [question, place], code))
    throw invalid('cursor', 'is not one that this node made for this query and sort');
  const values = JSON.parse(place) as string[];
  return { keys: values.slice(0, -1), id: values.at(-1) as string };
}
