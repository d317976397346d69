import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { callBody, emptyCall, parseJson, quoteQuery } from './call-values.ts';

it('says what was typed, and leaves out what was not', () => {
  expect(callBody({ ...emptyCall, task: 'hello', input: ' ' }, 0)).toEqual({ task: 'hello' });
  const values = {
    ...emptyCall,
    task: 'x',
    input: '{"a":1}',
    priority: 'high',
    deadlineS: '60',
    fallback: true,
  } as const;
  const body = callBody(values, 0, '0.05');
  expect(body).toEqual({
    task: 'x',
    input: { a: 1 },
    maxCost: '0.05',
    priority: 'high',
    deadline: '1970-01-01T00:01:00.000Z',
    fallback: true,
  });
  expect(InvocationRequest.safeParse(body).success).toBe(true);
});

it.each(['{"a":', '[1]', '"text"', 'null'])('leaves input that is no object to be refused: %s', (input) => {
  const { error } = InvocationRequest.safeParse(callBody({ ...emptyCall, task: 'x', input }, 0));
  expect(error?.issues[0]?.path).toEqual(['input']);
});

it('says where JSON is broken', () => {
  expect(parseJson('{"a":1}')).toEqual({ value: { a: 1 } });
  expect(parseJson('{"a" 1}')).toEqual({ problem: expect.stringContaining('position') });
});

it('refuses a number that the agent would get as another one', () => {
  const input = '{"ids":[1,12345678901234567890]}';
  const problem = 'ids.1 is 12345678901234567890, which a double cannot keep: send it as a string';
  expect(parseJson(input)).toEqual({ problem });
  const { error } = InvocationRequest.safeParse(callBody({ ...emptyCall, task: 'x', input }, 0));
  expect(error?.issues[0]?.path).toEqual(['input']);
});

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
