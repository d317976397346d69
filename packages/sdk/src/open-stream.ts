import { streamEventTypes } from '@agent-network/contracts/invocations/stream-event-types';
import type { StreamEvent } from '@agent-network/contracts/invocations/stream-events';
import { createLineEnds } from '@agent-network/contracts/line-ends';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { NoAnswerError } from './api-error.ts';
import type { HttpRequest } from './build-request.ts';
import { readAnswer } from './read-answer.ts';
import { fetchInit, type SendOptions, toNoAnswer } from './send-request.ts';

/** A node sends a comment every 15 s: a connection that is silent for longer than three of them is dead. */
const silenceMs = 50_000;
const maxEventChars = 4 * 1024 * 1024;

/** An opened stream: its events, or the data of a JSON answer. */
export type Opened<E = StreamEvent> = { readonly events: AsyncGenerator<E> } | { readonly data: unknown };

/** Reads a message of a stream; null: none that is known here. */
export type ReadEvent<E> = (message: EventSourceMessage) => E | null;

const isStreamEvent = (event: { type: string | undefined }): event is StreamEvent =>
  (streamEventTypes as readonly (string | undefined)[]).includes(event.type);

const readStreamEvent: ReadEvent<StreamEvent> = ({ id, event: type, data }) => {
  const event = { id: Number(id), type, data: JSON.parse(data) as unknown };
  return Number.isSafeInteger(event.id) && isStreamEvent(event) ? event : null;
};

async function* readEvents<E>(
  body: ReadableStream<Uint8Array>,
  readEvent: ReadEvent<E>,
  onBytes: () => void,
): AsyncGenerator<E> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => void messages.push(message), maxBufferSize: maxEventChars });
  const decoder = new TextDecoder();
  const toLf = createLineEnds();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    parser.feed(toLf(decoder.decode(value, { stream: true })));
    for (const message of messages.splice(0)) {
      const event = readEvent(message);
      if (event) yield event;
    }
  }
}

/**
 * Sends a request once and opens the stream that answers it. `timeoutMs` bounds the wait for the answer to begin, silence of
 * more than 50 s ends the stream with `NoAnswerError`, and leaving the iteration closes the connection.
 */
export const openStream = (request: HttpRequest, options: SendOptions): Promise<Opened> =>
  openEvents(request, options, readStreamEvent);

/** Like `openStream`, for other events. */
export async function openEvents<E>(
  request: HttpRequest,
  options: SendOptions,
  readEvent: ReadEvent<E>,
): Promise<Opened<E>> {
  const hangUp = new AbortController();
  const timeout = new AbortController();
  let timer = setTimeout(() => timeout.abort(), options.timeoutMs);
  const signals = [hangUp.signal, timeout.signal, ...(options.signal ? [options.signal] : [])];
  const fail = (error: unknown) => {
    clearTimeout(timer);
    return toNoAnswer(request.url, options, timeout.signal, error);
  };
  async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<E> {
    const rearm = () => {
      clearTimeout(timer);
      timer = setTimeout(() => hangUp.abort(), silenceMs);
    };
    rearm();
    try {
      yield* readEvents(body, readEvent, rearm);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw new NoAnswerError(`${new URL(request.url).origin} broke off the stream`, { cause: error });
    } finally {
      clearTimeout(timer);
      hangUp.abort();
    }
  }
  try {
    const response = await options.fetch(request.url, fetchInit(request, AbortSignal.any(signals)));
    options.onResponse?.(response);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (response.ok && isStream && response.body) return { events: events(response.body) };
    const data = await readAnswer(response);
    clearTimeout(timer);
    return { data };
  } catch (error) {
    throw fail(error);
  }
}
