import { isTerminal } from '@agent-network/contracts/invocations/stream-event-types';
import type { StreamEvent } from '@agent-network/contracts/invocations/stream-events';
import { NoAnswerError } from './api-error.ts';
import type { HttpRequest } from './build-request.ts';
import { openStream } from './open-stream.ts';
import type { Payer } from './payer.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { sendPaying, withPayment } from './send-paying.ts';
import { type Send, type SendOptions, unlessAway, withRepeats } from './send-request.ts';
import { wait } from './wait.ts';

/** A stream is taken up again more often than a call is repeated: the request goes on meanwhile. */
const resumes = 8;

const openRepeating: Send<Awaited<ReturnType<typeof openStream>>> = (request, options) =>
  withRepeats(options, () => openStream(request, options));

interface Progress {
  lastId: number;
  /** The terminal event was seen, or the node closed the stream because there is nothing left to tell. */
  isDone: boolean;
}

/** Passes on what is new, and notes how far it got. A broken connection is no error here: the stream can be taken up again. */
async function* passOn(events: AsyncGenerator<StreamEvent>, progress: Progress): AsyncGenerator<StreamEvent> {
  const before = progress.lastId;
  try {
    for await (const event of events) {
      if (event.id <= progress.lastId) continue;
      progress.lastId = event.id;
      progress.isDone = isTerminal(event.type);
      yield event;
      if (progress.isDone) return;
    }
    progress.isDone = before > 0 && progress.lastId === before;
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
  }
}

/** The events of the stream that a GET opens, taken up after the last one seen whenever the connection ends too early. */
export async function* followInvocation(request: HttpRequest, sending: SendOptions): AsyncGenerator<StreamEvent> {
  const progress: Progress = { lastId: Number(request.headers['last-event-id'] ?? 0), isDone: false };
  for (let misses = 0; ; misses += 1) {
    const before = progress.lastId;
    const headers = before > 0 ? { ...request.headers, 'last-event-id': String(before) } : request.headers;
    const hasBegun = before > 0 || misses > 0;
    const mayComeBack = () => sending.maxRetries > 0 && misses < resumes;
    const opened = await unlessAway(openRepeating({ ...request, headers }, sending), hasBegun && mayComeBack());
    if (opened && !('events' in opened)) throw new NoAnswerError('The node answered with something else than a stream');
    if (opened) yield* passOn(opened.events, progress);
    if (progress.isDone) return;
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
 * its key and its payment; one lost later is taken up by `resume`. An error before the first event carries the payment that was shown.
 */
export async function* invokeStreaming(
  call: StreamingCall,
  resume: (requestId: string, after: number) => AsyncGenerator<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  const progress: Progress = { lastId: 0, isDone: false };
  let { request } = call;
  let requestId: string | undefined;
  for (let misses = 0; requestId === undefined; misses += 1) {
    if (misses > 0) await wait(retryDelayMs(misses - 1, undefined, Math.random) ?? 0, call.sending.signal);
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
    if (progress.isDone) return;
    if (requestId === undefined && misses >= call.sending.maxRetries)
      throw withPayment(new NoAnswerError('The stream broke off before its first event'), request);
  }
  yield* resume(requestId, progress.lastId);
}
