import type { StreamEvent } from '@agent-network/sdk';
import { expect, it } from 'vitest';
import { said, stepsOf } from './live-answer.tsx';

const event = (id: number, type: string, data: object) =>
  ({ id, type, data: { requestId: 'req_1', ...data } }) as unknown as StreamEvent;

it('puts the pieces of an answer together', () => {
  const events = [
    event(1, 'invocation.created', {}),
    event(2, 'invocation.chunk', { chunk: 'Hello, ' }),
    event(3, 'invocation.status', { percent: 50 }),
    event(4, 'invocation.chunk', { chunk: '<b>you</b>' }),
    event(5, 'invocation.chunk', { chunk: { a: 1 } }),
    event(6, 'invocation.chunk', { page: 2 }),
  ];
  expect(said(events)).toBe('Hello, <b>you</b>{"a":1}\n{"page":2}\n');
  expect(stepsOf(events)[2]).toEqual({ id: 3, type: 'status', detail: '{"percent":50}' });
});
