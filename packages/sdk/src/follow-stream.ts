import { isTerminal } from '@agent-network/contracts/invocations/stream-event-types';
import type { StreamEvent } from '@agent-network/contracts/invocations/stream-events';
import { NoAnswerError } from './api-error.ts';
import type { HttpRequest } from './build-request.ts';
import { openStream } from './open-stream.ts';
import type { Payer } from './payer.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { sendPaying, withPayment } from './send-paying.ts';
import { type Send, type SendOptions, sendRequest, unlessAway, withRepeats } from './send-request.ts';
import { wait } from './wait.ts';

/** Maximum resumptions of a stream: more than the retries of a call, as the request continues in the meantime. */
const resumes = 8;

const openRepeating: Send<Awaited<ReturnType<typeof openStream>>> = (request, options) =>
  withRepeats(options, () => openStream(request, options));

interface Progress {
  lastId: number;
  /** The stream is over: the terminal event was seen, or the node ended it after a question. */
  isDone: boolean;
}

/**
 * Passes on new events, and records the progress. A broken connection is not an error here, as the stream can be resumed. Returns true when
 * the connection was closed normally without events.
 */
async function* passOn(events: AsyncGenerator<StreamEvent>, progress: Progress): AsyncGenerator<StreamEvent, boolean> {
  const before = progress.lastId;
  let isAsked = false;
  try {
    for await (const event of events) {
      if (event.id <= progress.lastId) continue;
      progress.lastId = event.id;
      progress.isDone = isTerminal(event.type);
      isAsked = event.type === 'invocation.input_required';
      yield event;
      if (progress.isDone) return false;
    }
    progress.isDone = isAsked;
    return before > 0 && progress.lastId === before;
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    return false;
  }
}

/** The last event that the caller has: the endpoint takes it in a header, or in the query. */
const afterOf = ({ url, headers }: HttpRequest): number =>
  Number(headers['last-event-id'] ?? new URLSearchParams(url.split('?')[1]).get('after') ?? 0);

/** The node has no more events than the reader, and never will (204). */
const isOverFor = (error: unknown): boolean => error instanceof NoAnswerError && error.status === 204;

/** Opens the stream after an event. null: the node is away, and the stream may be opened later; `over`: there is nothing after it. */
async function openAfter(
  lastId: number,
  request: HttpRequest,
  sending: SendOptions,
  mayWait: boolean,
): Promise<AsyncGenerator<StreamEvent> | 'over' | null> {
  const headers = lastId > 0 ? { ...request.headers, 'last-event-id': String(lastId) } : request.headers;
  const opened = await unlessAway(openRepeating({ ...request, headers }, sending), mayWait).catch((error: unknown) => {
    if (isOverFor(error)) return 'over' as const;
    throw error;
  });
  if (opened === null || opened === 'over') return opened;
  if (!('events' in opened)) throw new NoAnswerError('The node answered with something else than a stream');
  return opened.events;
}

const ended = ['completed', 'failed', 'cancelled'];

/** Polls the request of a stream; false: it continues, or the node is away and can be polled later. */
async function hasEnded({ url, ...request }: HttpRequest, sending: SendOptions, mayWait: boolean): Promise<boolean> {
  const { 'last-event-id': _after, ...headers } = request.headers;
  const asking = {
    ...request,
    url: url.replace(/\/events(\?.*)?$/, ''),
    headers: { ...headers, accept: 'application/json' },
  };
  const record = (await unlessAway(sendRequest(asking, sending), mayWait)) as { readonly status: string } | null;
  return record !== null && ended.includes(record.status);
}

/**
 * The events of a GET stream, resumed after the last one whenever the connection ends too early. Proxies also close unfinished streams
 * normally, so the stream is over only when a connection opened after the end of the request brings nothing.
 */
export async function* followInvocation(request: HttpRequest, sending: SendOptions): AsyncGenerator<StreamEvent> {
  const progress: Progress = { lastId: afterOf(request), isDone: false };
  let isOver = false;
  for (let misses = 0; ; misses += 1) {
    const before = progress.lastId;
    const hasBegun = before > 0 || misses > 0;
    const mayComeBack = () => sending.maxRetries > 0 && misses < resumes;
    const events = await openAfter(before, request, sending, hasBegun && mayComeBack());
    if (events === 'over') return;
    const isEmpty = events !== null && (yield* passOn(events, progress));
    if (progress.isDone || (isEmpty && isOver)) return;
    if (isEmpty) isOver = await hasEnded(request, sending, mayComeBack());
    if (isEmpty && isOver) continue;
    if (progress.lastId > before) misses = 0;
    if (!mayComeBack()) throw new NoAnswerError(`The stream broke off after event ${progress.lastId}`);
    await wait(retryDelayMs(misses, undefined, Math.random) ?? 0, sending.signal);
  }
}

interface StreamingCall {
  readonly request: HttpRequest;
  readonly sending: SendOptions;
  readonly payer: Payer | undefined;
}

/**
 * Sends the POST that starts a request and yields its events. A connection lost before the first event repeats the same POST, with
 * its key and its payment; one lost later is taken up by `resume`. An error before the first event carries the key and the payment that
 * was shown, also after the caller's abort.
 */
export async function* invokeStreaming(
  call: StreamingCall,
  resume: (requestId: string, after: number) => AsyncGenerator<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  const progress: Progress = { lastId: 0, isDone: false };
  let { request } = call;
  let requestId: string | undefined;
  const { signal } = call.sending;
  signal?.throwIfAborted();
  for (let misses = 0; requestId === undefined; misses += 1) {
    try {
      if (misses > 0) await wait(retryDelayMs(misses - 1, undefined, Math.random) ?? 0, signal);
      const sent = await sendPaying(call.payer, request, call.sending, openRepeating);
      request = sent.request;
      if ('data' in sent.answer) {
        requestId = (sent.answer.data as { requestId: string }).requestId;
        break;
      }
      for await (const event of passOn(sent.answer.events, progress)) {
        requestId = event.data.requestId;
        yield event;
      }
    } catch (error) {
      throw requestId === undefined ? withPayment(error, request, signal) : error;
    }
    if (progress.isDone) return;
    if (requestId === undefined && misses >= call.sending.maxRetries)
      throw withPayment(new NoAnswerError('The stream broke off before its first event'), request, signal);
  }
  yield* resume(requestId, progress.lastId);
}
