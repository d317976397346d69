import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { queryInteger } from '../page.ts';
import { Id, Timestamp } from '../scalars.ts';
import { InvocationCreated, keylessReadHeaders, RequestRecord } from './invocations.ts';
import type { StreamEventType } from './stream-event-types.ts';
import { InputRequest } from './turns.ts';

const StreamStatus = z.looseObject({
  requestId: Id,
  status: z.string().optional().describe('`processing` when the agent was called.'),
  at: Timestamp.optional(),
});
const StreamChunk = z.looseObject({
  requestId: Id,
  chunk: z
    .unknown()
    .optional()
    .describe('A part of the answer; an agent that streams objects has its fields here instead.'),
});

const StreamQuestion = z.object({ requestId: Id, status: z.literal('input_required'), inputRequest: InputRequest });

/** Every stream event with its cause and its `data`. Agents add their own fields to status and chunk. */
export const streamEventCatalogue = {
  'invocation.created': { when: 'The request was accepted. Always the first, with id 1.', data: InvocationCreated },
  'invocation.status': { when: 'The agent was called, or reports progress.', data: StreamStatus },
  'invocation.chunk': { when: 'The agent sent a part of its answer.', data: StreamChunk },
  'invocation.input_required': {
    when: 'The agent asks back. Ends the stream: answer the question, then open the stream again after this event.',
    data: StreamQuestion,
  },
  'invocation.completed': {
    when: 'The agent completed the request; `result` is included. Ends the stream.',
    data: RequestRecord,
  },
  'invocation.failed': { when: 'The request failed and is refunded. Ends the stream.', data: RequestRecord },
  'invocation.cancelled': { when: 'The request was cancelled and is refunded. Ends the stream.', data: RequestRecord },
} as const satisfies Record<StreamEventType, { when: string; data: z.ZodObject }>;

type EventOf<T extends StreamEventType> = {
  /** 1, 2, 3 …: the value of `Last-Event-ID` and `after`. */
  readonly id: number;
  readonly type: T;
  readonly data: z.output<(typeof streamEventCatalogue)[T]['data']>;
};

/** One event of a stream; `type` determines the type of `data`. */
export type StreamEvent = { [T in StreamEventType]: EventOf<T> }[StreamEventType];

export const streamEndpoints = {
  streamInvocation: endpoint({
    method: 'GET',
    path: '/invoke/{requestId}/events',
    summary:
      'Stream the events of your request, from the start or after `Last-Event-ID`, until it ends or waits for an answer',
    tag: 'Invocation',
    auth: 'key',
    keyless: 'reads',
    scope: 'invoke',
    limit: 'api',
    params: z.object({ requestId: Id }),
    query: z.object({
      after: queryInteger(0, 9_999_999).optional().describe('Like Last-Event-ID, for clients that cannot set headers.'),
      lastEventId: queryInteger(0, 9_999_999)
        .optional()
        .describe('Another name of `after`, used by polyfills of EventSource.'),
    }),
    headers: keylessReadHeaders.extend({
      'last-event-id': z
        .string()
        .regex(/^\d{0,7}$/, 'is not the id of an event')
        .optional()
        .describe('Resumes after this event; empty: from the start.'),
    }),
    stream: 'always',
    data: z.null(),
    errors: ['GONE'],
  }),
};
