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
  const request = { ...toRequest(call, written), timeoutMs, maxBytes: MAX_RESULT_BYTES };
  return toWhole(await ctx.guardedFetch.request(request));
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
  return toWhole({ ...answer, body: await readAll(answer.body) });
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

/** Parses server-sent events as they arrive. `roomBytes`: allowance for the envelope of a result. */
export async function* messagesOf(bytes: AsyncIterable<Buffer>, roomBytes: number): AsyncGenerator<MessagePart> {
  const parser = createEventParser(MAX_RESULT_BYTES + roomBytes);
  const decoder = new TextDecoder();
  const pieces = createBytePieces();
  for await (const piece of bytes) {
    pieces.add(piece);
    const endsLine = piece.includes(LF) || piece.includes(CR);
    if (!endsLine && pieces.byteLength < LINE_PIECE_BYTES) continue;
    const messages = parser.feed(decoder.decode(pieces.take(), { stream: true }));
    yield { messages, isTooLarge: parser.isTooLarge() };
  }
}
