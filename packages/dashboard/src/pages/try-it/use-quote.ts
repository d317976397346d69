import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../app/client.ts';
import { useSettled } from '../../app/use-settled.ts';
import { problemsOf } from '../../forms/problems.ts';
import { type CallValues, callBody } from './call-values.ts';
import { quoteQuery } from './quote-query.ts';

const PAUSE_MS = 400;
/** A quote that ends sooner is replaced, so that a call does not come too late. */
const SPARE_MS = 30_000;

const msLeft = ({ validUntil }: Quote): number => Date.parse(validUntil) - Date.now() - SPARE_MS;

export interface QuoteState {
  /** Quote for the call as it stands in the form; undefined: not there yet, or the form is not complete. */
  readonly quote: Quote | undefined;
  /** A quote that was not used yet, and holds long enough. Throws what the node answers. */
  take(usedId: string | null): Promise<Quote>;
}

/** The price of the call, asked for by itself whenever the form is complete and typing pauses, and again before it expires. */
export function useQuote(agentId: string, values: CallValues): QuoteState {
  const queryClient = useQueryClient();
  const { task, input = {}, capability } = callBody(values, 0);
  const body = { task, input, capability };
  const key = JSON.stringify(body);
  const isSettled = useSettled(key, PAUSE_MS) === key;
  const isWhole = problemsOf(InvocationRequest, body).size === 0;
  const options = quoteQuery(agentId, key, () => client.quoteInvocation({ params: { agentId }, body }));
  const { data } = useQuery({
    ...options,
    enabled: isWhole && isSettled,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state }) => (state.data ? Math.max(1000, msLeft(state.data)) : false),
  });
  return {
    quote: data,
    take(usedId) {
      const isGood = data !== undefined && data.quoteId !== usedId && msLeft(data) > 0;
      return queryClient.fetchQuery({ ...options, staleTime: isGood ? Number.POSITIVE_INFINITY : 0 });
    },
  };
}
