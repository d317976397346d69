import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import type { Hit, ListingIndex, ListingQuestion } from '@agent-network/search-index/listing';
import { amountKey } from '@agent-network/search-index/listing-fields';
import { orderOf, type SearchOrder } from '@agent-network/search-index/search-order';
import { taskWords } from '@agent-network/search-index/words/task-words';
import type { PaymentConditions } from '../../payments/chain-outbox/chain-context.ts';
import type { AgentServices } from '../agent-services.ts';
import { matchScore } from './match-score.ts';

export type PayableContext = AgentServices & PaymentConditions;

const online: ListingQuestion = {
  wanted: { any: [], all: [], texts: [] },
  words: null,
  filter: { isOnline: [true], isVerified: [true, false], limits: [] },
};

const cheapestFirst = orderOf([{ field: 'rates.perRequest', order: 'asc' }], false);
const dearestFirst = orderOf([{ field: 'rates.perRequest', order: 'desc' }], false);

export interface PayablePage {
  readonly agents: readonly AgentListItem[];
  readonly total: number;
}

/** Online agents that can be paid on chain: the cheapest first, so that those below the minimum payment come before all others. */
export const listPayable = (ctx: PayableContext, page: { limit: number; offset: number }): Promise<PayablePage> =>
  ctx.listing.read((index) => {
    const below = countBelow(index, leastPaidOnChain(ctx));
    const { total, hits } = ask(index, cheapestFirst, { limit: page.limit, offset: below + page.offset });
    return { total: total - below, agents: hits.map(toItem) };
  });

/** Lowest and highest price per request of agents that can be paid on chain; null when there are none. */
export const payablePrices = (ctx: PayableContext): Promise<{ min: string; max: string } | null> =>
  ctx.listing.read((index) => {
    const below = countBelow(index, leastPaidOnChain(ctx));
    const { total, hits } = ask(index, cheapestFirst, { limit: 1, offset: below });
    const cheapest = hits[0];
    const dearest = ask(index, dearestFirst, { limit: 1, offset: 0 }).hits[0];
    if (total === below || !cheapest || !dearest) return null;
    return { min: toItem(cheapest).rates.perRequest, max: toItem(dearest).rates.perRequest };
  });

const ask = (index: ListingIndex, order: SearchOrder, page: { limit: number; offset: number }) =>
  index.search({ ...online, order, after: null, ...page });

/** The lowest price that is paid on chain. */
export const leastPaidOnChain = ({ paymentLimits: { minPaymentMicro } }: PaymentConditions): bigint =>
  minPaymentMicro > 1n ? minPaymentMicro : 1n;

/** Number of online agents that ask for less: free ones among them. */
function countBelow(index: ListingIndex, leastMicro: bigint): number {
  const limits = [{ field: 'rates.perRequest' as const, key: amountKey(leastMicro - 1n) }];
  const filter = { ...online.filter, limits };
  return index.search({ ...online, filter, order: cheapestFirst, after: null, limit: 1, offset: 0 }).total;
}

const toItem = ({ item }: Hit): AgentListItem => JSON.parse(item.toString());

/**
 * Online agents that can be paid on chain, ranked for a text like tasks are, but without their load, so from memory alone. `isWhole` is
 * false when there may be more.
 */
export async function searchPayable(
  ctx: PayableContext,
  { query, limit }: { query: string; limit: number },
): Promise<{ agents: readonly AgentListItem[]; isWhole: boolean }> {
  const leastMicro = leastPaidOnChain(ctx);
  const question = {
    ...{ words: taskWords(query), capabilities: [], among: null, except: [], seen: [], also: null },
    ...{ maxMicro: null, leastMicro, takesFree: false, limit },
  };
  return ctx.listing.read((index) => {
    const { hits } = index.forTask(
      question,
      (facts, usualMicro) => matchScore({ ...facts, load: 0 }, usualMicro).score,
    );
    const items = hits.map(({ id }) => index.item(id));
    const agents = items.flatMap((item) => (item ? [JSON.parse(item.toString()) as AgentListItem] : []));
    return { agents, isWhole: hits.length < limit };
  });
}
