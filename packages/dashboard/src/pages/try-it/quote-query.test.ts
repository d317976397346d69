import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { quoteQuery } from './quote-query.ts';

it('asks for a new quote when the form says again what it said before', async () => {
  const queryClient = new QueryClient();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return { quoteId: `quo_${asked}` } as Quote;
  };
  const optionsOf = (call: string) => ({
    ...quoteQuery('agt_1', call, ask),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const observer = new QueryObserver(queryClient, optionsOf('first'));
  const stop = observer.subscribe(() => undefined);
  const quotedAs = (quoteId: string) =>
    vi.waitFor(() => expect(observer.getCurrentResult().data?.quoteId).toBe(quoteId));
  await quotedAs('quo_1');
  observer.setOptions(optionsOf('second'));
  await quotedAs('quo_2');
  observer.setOptions(optionsOf('first'));
  await quotedAs('quo_3');
  stop();
});
