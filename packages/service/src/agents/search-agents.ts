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
import { makeSearchCursor, type Place, readSearchCursor } from './search-cursor.ts';
import { orderOf, type SearchOrder } from './search-order.ts';
import {
  isCounted,
  listedFields,
  readSearchPage,
  type SearchFilter,
  type SearchPage,
  type SearchPageQuery,
} from './search-store.ts';
import { searchText } from './search-text.ts';
import { capabilityTerm, termsQuery, type Wanted, wantedCapabilities, wordsOf } from './words.ts';

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
  const { total, agents } = await find(ctx, query, { order, after, limit: limit + 1, offset });
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

interface Page {
  readonly order: SearchOrder;
  readonly after: Place | null;
  readonly limit: number;
  readonly offset: number;
}

/** A text of signs only has no word that could be found. */
async function find(ctx: HasDb, query: AgentQuery, page: Page): Promise<SearchPage> {
  const wanted = wantedCapabilities(query);
  const filter = filterOf(query);
  if (query.text === undefined) return readSearchPage(ctx.db, { ...page, ...byCapability(wanted, filter, page.order) });
  const words = wordsOf(query.text);
  return words.length === 0 ? { total: 0, agents: [] } : searchText(ctx, { ...page, words, wanted, filter });
}

/** One capability is looked up in the inverted table, where that has the order; several, by the index of terms. */
function byCapability(
  wanted: Wanted,
  filter: SearchFilter,
  order: SearchOrder,
): Pick<SearchPageQuery, 'among' | 'total' | 'filter'> {
  const [capability = '', ...others] = wanted.all;
  const isOne = wanted.any.length + others.length === 0;
  const isListed = isOne && order.keys.every(({ field }) => listedFields.has(field));
  const among = isListed ? { capability } : { terms: termsQuery(wanted, null), inName: '', inTitle: '' };
  return { among, filter, total: isOne && isCounted(filter) ? { keptOf: capabilityTerm(capability) } : 'count' };
}

const filterOf = ({ rates, reputation, verified, online }: AgentQuery): SearchFilter => ({
  isOnline: online === undefined ? [true, false] : [online],
  isVerified: verified === undefined ? [true, false] : [verified],
  // Reputations are whole: at least 99.5 is at least 100.
  minReputation: Math.ceil(reputation?.min ?? 0),
  maxPriceMicro: rates?.perRequest ? parseUsdc(rates.perRequest.max) : null,
  maxPerHourMicro: rates?.perHour ? parseUsdc(rates.perHour.max) : null,
});
