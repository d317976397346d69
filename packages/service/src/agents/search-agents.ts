import type { AgentQuery, AgentSearch } from '@agent-network/contracts/agents';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import type { HasDb } from '../db/database.ts';
import { invalid } from '../lib/app-error.ts';
import { formatDuration } from '../lib/duration.ts';
import type { HasSecrets } from '../lib/secrets.ts';
import { toListItem } from './agent-view.ts';
import type { HasNodeLabel } from './discover-agents.ts';
import { makeSearchCursor, readSearchCursor } from './search-cursor.ts';
import { orderOf, type SearchOrder } from './search-order.ts';
import { type Among, listedFields, readSearchPage, type SearchFilter, type SearchPageQuery } from './search-store.ts';
import { termsQuery, type Wanted, wantedCapabilities, wordsOf, wordsQuery } from './words.ts';

/** Finds the agents that match every part of the query, in the order asked for, with the exact total. */
export async function searchAgents(
  ctx: HasDb & HasSecrets & HasNodeLabel,
  input: AgentSearch,
): Promise<DataOf<Api['searchAgents']>> {
  const startMs = performance.now();
  const { query, limit, offset, cursor } = input;
  if (cursor !== undefined && offset > 0) throw invalid('cursor', 'cannot be used together with offset');
  const order = orderOf(input.sort, query.text !== undefined);
  const question = JSON.stringify([query, order]);
  const after = cursor === undefined ? null : readSearchCursor(ctx, question, cursor);
  const { total, agents } = canMatch(query)
    ? await readSearchPage(ctx.db, { ...questionOf(query, order), after, limit: limit + 1, offset })
    : { total: 0, agents: [] };
  const shown = agents.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = agents.length > limit;
  return {
    agents: shown.map((agent) => toListItem(agent, ctx.nodeLabel)),
    total,
    hasMore,
    nextCursor: hasMore && last ? makeSearchCursor(ctx, question, last.place) : null,
    query,
    executionTime: formatDuration(performance.now() - startMs),
  };
}

/** A text of signs only has no word that could be found. */
const canMatch = ({ text }: AgentQuery) => text === undefined || wordsOf(text).length > 0;

type Question = Pick<SearchPageQuery, 'among' | 'countedAs' | 'filter' | 'order'>;

/** How to ask the database: one capability by the inverted table where that has the order, anything else by terms. */
function questionOf(query: AgentQuery, order: SearchOrder): Question {
  const wanted = wantedCapabilities(query);
  const filter = filterOf(query);
  const isOne = query.text === undefined && wanted.any.length === 0 && wanted.all.length <= 1;
  const capability = isOne ? (wanted.all[0] ?? '') : null;
  const isListed = capability !== null && order.keys.every(({ field }) => listedFields.has(field));
  const among = isListed ? { capability } : amongTerms(wanted, query.text);
  return { among, filter, order, countedAs: capability !== null && isCounted(filter) ? capability : null };
}

const amongTerms = (wanted: Wanted, text: string | undefined): Among => ({
  terms: termsQuery(wanted, text),
  inName: text === undefined ? '' : wordsQuery(text, 'A'),
  inTitle: text === undefined ? '' : wordsQuery(text, 'AB'),
});

/** Whether the counts that are kept of each capability tell the total. */
export const isCounted = (filter: SearchFilter): boolean =>
  filter.minReputation <= 0 && filter.maxPriceMicro === null && filter.maxPerHourMicro === null;

const filterOf = ({ rates, reputation, verified, online }: AgentQuery): SearchFilter => ({
  isOnline: online === undefined ? [true, false] : [online],
  isVerified: verified === undefined ? [true, false] : [verified],
  // Reputations are whole: at least 99.5 is at least 100.
  minReputation: Math.ceil(reputation?.min ?? 0),
  maxPriceMicro: rates?.perRequest ? parseUsdc(rates.perRequest.max) : null,
  maxPerHourMicro: rates?.perHour ? parseUsdc(rates.perHour.max) : null,
});
