import type { Quote } from '@agent-network/contracts/invocations/quotes';

/**
 * The quote of a call as a query. It is forgotten once the form says something else: a quote is used once, and one that comes back with
 * an earlier text may have been used since.
 */
export const quoteQuery = (agentId: string, call: string, ask: () => Promise<Quote>) => ({
  queryKey: ['quote of a call', agentId, call],
  queryFn: ask,
  retry: false,
  gcTime: 0,
});
