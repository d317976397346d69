import { EventSourceParserStream } from 'eventsource-parser/stream';
import { onTestFinished } from 'vitest';
import type { RequestOptions } from '../../../support/harness.ts';

export interface StreamEvent {
  readonly id: number;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  readonly data: any;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** The next event; null at the end. Throws when the connection breaks. */
  next(): Promise<StreamEvent | null>;
  /** Reads until this many have come, or to the end. */
  take(count: number): Promise<StreamEvent[]>;
  rest(): Promise<StreamEvent[]>;
  hangUp(): Promise<void>;
}

export const terminalTypes = ['invocation.completed', 'invocation.failed', 'invocation.cancelled'];

/** Takes what is to be done when a test ends; for a test that runs beside others, from its context. */
export type Finish = (end: Parameters<typeof onTestFinished>[0]) => void;

/** Opens a stream over real HTTP. What a test leaves open is hung up when it ends. */
export async function openSse(
  host: { baseUrl: string },
  method: string,
  path: string,
  { finish = onTestFinished, ...options }: RequestOptions & { readonly finish?: Finish } = {},
): Promise<OpenStream> {
  const hangUp = new AbortController();
  finish(() => hangUp.abort());
  const response = await fetch(host.baseUrl + path, {
    method,
    signal: hangUp.signal,
    headers: {
      accept: 'text/event-stream',
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw new Error(`no stream but ${response.status}: ${await response.text()}`);
  const messages = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  if (!messages) throw new Error('a stream without a body');
  const reader = messages.getReader();
  const next = async (): Promise<StreamEvent | null> => {
    const { value, done } = await reader.read();
    return done ? null : { id: Number(value.id), type: value.event ?? '', data: JSON.parse(value.data) };
  };
  const take = async (count: number) => {
    const events: StreamEvent[] = [];
    while (events.length < count) {
      const event = await next();
      if (!event) break;
      events.push(event);
    }
    return events;
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    take,
    rest: () => take(Number.POSITIVE_INFINITY),
    async hangUp() {
      hangUp.abort();
      await reader.cancel().catch(() => undefined);
    },
  };
}

/** Why events are no whole stream: ids 1, 2, 3 …, `created` first, exactly one terminal event, at the end; null when they are. */
export function problemWithStream(events: readonly StreamEvent[]): string | null {
  const ids = events.map(({ id }) => id);
  if (ids.some((id, index) => id !== index + 1)) return `ids ${ids.join(' ')}`;
  if (events[0]?.type !== 'invocation.created') return `begins with ${events[0]?.type}`;
  const ends = events.filter(({ type }) => terminalTypes.includes(type));
  if (ends.length !== 1) return `${ends.length} terminal events`;
  return terminalTypes.includes(events.at(-1)?.type ?? '') ? null : `ends with ${events.at(-1)?.type}`;
}
