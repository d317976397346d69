import { headersTo } from '../../agents/health/upstream.ts';
import { createBytePieces } from '../../lib/byte-pieces.ts';
import { errorIn } from '../../lib/net/error-text.ts';
import { createEventParser, type EventMessage } from '../../lib/net/event-parser.ts';
import type { GuardedResponse } from '../../lib/net/guarded-fetch.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import { MAX_STREAM_BYTES } from '../stream/record-chunks.ts';
import { type AgentCall, type Billed, type CallContext, CallFailedError, keyOf, msLeft } from './adapter.ts';
import { describeError, MAX_RESULT_BYTES } from './agent-answer.ts';
import { type AnswerMedia, MAX_MEDIA_ANSWER_BYTES } from './answer-media.ts';

interface Posted {
  readonly url: string;
  /** Sent as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly proof: PaymentProof | null;
}

export type Reply =
  | Billed
  | (GuardedResponse & { readonly kind: 'whole' })
  | {
      readonly kind: 'events';
      readonly headers: GuardedResponse['headers'];
      readonly bytes: AsyncIterable<Buffer>;
    };

/** A request with its body as text. */
interface Written extends Omit<Posted, 'body'> {
  readonly method: string;
  /** null: none. */
  readonly body: string | null;
  /** True for an answer that is no JSON, but text. */
  readonly isText?: boolean;
}

const toRequest = ({ target, invocation, signal }: AgentCall, { url, method, body, headers, proof }: Written) => ({
  url,
  method,
  headers: {
    ...headersTo(target, url),
    accept: 'application/json',
    'idempotency-key': keyOf(invocation),
    'x-request-id': invocation.id,
    'x-deadline': invocation.deadline.toISOString(),
    ...(proof === null ? {} : { [proof.headerName]: proof.headerValue }),
    ...headers,
  },
  body: body ?? undefined,
  signal,
});

const asJson = ({ body, headers, ...posted }: Posted): Written => ({
  ...posted,
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

type WholeReply = Exclude<Reply, { kind: 'events' }>;

/** Posts JSON and reads the whole answer. */
export const post = (ctx: CallContext, call: AgentCall, posted: Posted): Promise<WholeReply> =>
  send(ctx, call, asJson(posted));

/** Sends a request and reads the whole answer. */
export async function send(ctx: CallContext, call: AgentCall, written: Written): Promise<WholeReply> {
  const timeoutMs = msLeft(ctx, call);
  const request = { ...toRequest(call, written), timeoutMs };
  return toWhole(
    written.isText
      ? await ctx.guardedFetch.request({ ...request, maxBytes: MAX_RESULT_BYTES })
      : await call.media.request(request),
  );
}

/** Posts JSON to an endpoint that may answer with a stream of events, or as a whole. */
export async function postForEvents(ctx: CallContext, call: AgentCall, posted: Posted): Promise<Reply> {
  const timeoutMs = msLeft(ctx, call);
  const headers = { ...posted.headers, accept: 'application/json, text/event-stream' };
  const request = { ...toRequest(call, asJson({ ...posted, headers })), timeoutMs, idleTimeoutMs: timeoutMs };
  const answer = await ctx.guardedFetch.stream({ ...request, maxBytes: MAX_STREAM_BYTES });
  const type = String(answer.headers['content-type'] ?? '').toLowerCase();
  if (answer.status === 200 && type.startsWith('text/event-stream'))
    return { kind: 'events', headers: answer.headers, bytes: answer.body };
  return toWhole({ ...answer, body: await readJson(call, answer.body) });
}

const toWhole = (answer: GuardedResponse) => ({
  ...answer,
  kind: answer.status === 402 ? ('billed' as const) : ('whole' as const),
});

export async function readAll(bytes: AsyncIterable<Buffer>, maxBytes = MAX_RESULT_BYTES): Promise<Buffer> {
  const pieces = createBytePieces();
  for await (const piece of bytes) {
    pieces.add(piece);
    if (pieces.byteLength > maxBytes) throw new GuardedFetchError('too_large');
  }
  return pieces.take();
}

/** Reads a JSON answer, without its media. */
export async function readJson({ media }: AgentCall, bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const place = media.place();
  const pieces = createBytePieces();
  try {
    for await (const piece of place.timely(bytes)) {
      pieces.add(piece);
      if (pieces.byteLength > MAX_MEDIA_ANSWER_BYTES) throw new GuardedFetchError('too_large');
      if (pieces.byteLength > MAX_RESULT_BYTES && !(await place.enter())) throw new GuardedFetchError('timeout');
    }
    return await media.lighten(pieces.take());
  } finally {
    place.leave();
  }
}

/** Ends the call for an answer with an error. */
export function refused(status: number, answer: unknown): never {
  throw new CallFailedError('agent_error', `The agent answered ${status}${describeError(errorIn(answer))}.`);
}

export function invalidAnswer(what: string): never {
  throw new CallFailedError('invalid_response', `The agent answered ${what}.`);
}

/** Bytes of an unfinished line that are parsed together. */
const LINE_PIECE_BYTES = 16 * 1024;
const [LF, CR] = [10, 13] as const;

/** Events of one piece of a stream. */
export interface MessagePart {
  readonly messages: readonly EventMessage[];
  /** An event of this piece exceeds the maximum length. */
  readonly isTooLarge: boolean;
}

/**
 * Parses server-sent events as they arrive, without the media in their JSON. `roomBytes`: allowance for the envelope of a result. `media`
 * absent: there are none.
 */
export async function* messagesOf(
  bytes: AsyncIterable<Buffer>,
  roomBytes: number,
  media?: AnswerMedia,
): AsyncGenerator<MessagePart> {
  const most = MAX_RESULT_BYTES + roomBytes;
  const parser = createEventParser(media ? MAX_MEDIA_ANSWER_BYTES : most);
  const place = media?.place();
  try {
    for await (const text of textsOf(place ? place.timely(bytes) : bytes)) {
      const messages = parser.feed(text);
      const isLong = parser.heldChars() > most;
      if (isLong && !(await place?.enter())) throw new GuardedFetchError('timeout');
      const light = media ? await lightened(media, messages) : messages;
      if (!isLong) place?.leave();
      yield { messages: light ?? [], isTooLarge: light === null || parser.isTooLarge() };
    }
  } finally {
    place?.leave();
  }
}

/** null: one is too large without its media. */
async function lightened(media: AnswerMedia, messages: readonly EventMessage[]): Promise<EventMessage[] | null> {
  try {
    return await media.lightened(messages);
  } catch (error) {
    if (error instanceof GuardedFetchError && error.kind === 'too_large') return null;
    throw error;
  }
}

/** Text in pieces of whole lines, or of some length. */
async function* textsOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const pieces = createBytePieces();
  for await (const piece of bytes) {
    pieces.add(piece);
    const endsLine = piece.includes(LF) || piece.includes(CR);
    if (!endsLine && pieces.byteLength < LINE_PIECE_BYTES) continue;
    yield decoder.decode(pieces.take(), { stream: true });
  }
}
