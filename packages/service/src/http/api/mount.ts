import { api, type EndpointName } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { Context, Hono } from 'hono';
import type { Caller } from '../../accounts/caller.ts';
import { AppError } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { AnswerRoom, Readers } from '../answer/answer-room.ts';
import { bodyOf, connectionOf, recordStreamEnd } from '../answer/answer-watch.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { type Compressor, createCompressor } from '../answer/encodings.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { contentBody, FileAnswer } from '../answer/file-answer.ts';
import { PIECE_BYTES } from '../answer/large-body.ts';
import { publicAnswer } from '../answer/public-answer.ts';
import { SseAnswer, StalledError, type StreamLink, sseBody, sseHeaders } from '../answer/sse.ts';
import { countCall } from '../request/count-call.ts';
import { type AnyHandler, handleCall } from '../request/handle-call.ts';
import type { Handlers } from '../request/handler.ts';
import type { HttpContext } from '../request/http-context.ts';
import { identify } from '../request/identify.ts';
import { MAX_BODY_BYTES } from '../request/read-body.ts';
import { recordRequest } from '../request/record-request.ts';
import { addressOf, clientNetwork } from '../request/remote-address.ts';
import { partsOf } from '../request/request-parts.ts';

/** Mounts each row of the endpoint table as a route, handled by `handle-call.ts`. */
export function mount(app: Hono, ctx: HttpContext, handlers: Handlers, room: AnswerRoom): void {
  const compressor = createCompressor();
  const names = (Object.keys(api) as EndpointName[]).sort((a, b) => parametersOf(a) - parametersOf(b));
  for (const name of names) {
    const row: Endpoint = api[name];
    if (row.gateway && !ctx.gateways.has(row.gateway)) continue;
    const handler = handlers[name] as unknown as AnyHandler;
    app.on(row.method, row.path.replace(/\{(\w+)\}/g, ':$1'), (c) =>
      answer({ ctx, room, compressor }, name, row, handler, c),
    );
  }
}

/** Sorts literal paths before those with parameters, which would match them. */
const parametersOf = (name: EndpointName) => api[name].path.split('{').length;

export function requestIdOf(c: Context): string {
  const given = c.req.header('x-request-id');
  return given !== undefined && /^[\w-]{8,128}$/.test(given) ? given : newId('req');
}

async function answer(
  { ctx, room, compressor }: { ctx: HttpContext; room: AnswerRoom; compressor: Compressor },
  name: EndpointName,
  row: Endpoint,
  handler: AnyHandler,
  c: Context,
): Promise<Response> {
  const startMs = performance.now();
  const requestId = requestIdOf(c);
  const headers: Record<string, string> = {
    ...commonHeaders,
    'content-type': 'application/json',
    'x-request-id': requestId,
  };
  const place = { ctx, room, name, requestId, c };
  let readers: Readers = [];
  const admit = (caller: Caller) => {
    readers = readersOf(ctx, c, caller);
    if (row.method === 'GET') room.admit(readers, name);
  };
  let status = 200;
  let body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  try {
    failpoint('before-handle');
    const answered = await handleCall(ctx, {
      ...{ name, row, handler, c, headers, admit },
      setCreated() {
        status = 201;
      },
      parts: partsOf(ctx, c),
      identify: () => identify(ctx, row, c, headers),
      count: (caller) => countCall(ctx, { caller, row, address: () => addressOf(ctx, c) }, headers),
    });
    failpoint('after-handle');
    if (answered instanceof SseAnswer && answered.isOver) {
      status = 204;
      body = null;
      delete headers['content-type'];
    } else if (answered instanceof SseAnswer) {
      body = openStream({ ...place, readers }, row, answered);
      Object.assign(headers, sseHeaders);
    } else if (answered instanceof FileAnswer) {
      status = answered.status;
      Object.assign(headers, answered.headers);
      if (!answered.content) delete headers['content-type'];
      body = sendContent({ ...place, readers }, answered);
    } else {
      const shown = row.isPublic
        ? await publicAnswer(c, compressor, answered, name === 'getAgent')
        : { status, headers: {}, body: answered };
      const isRead = row.method === 'GET' || 'idempotency-replayed' in headers;
      if (isRead) countUntilTaken(c, (bytes) => room.take(readers, name, bytes), shown.body ?? '');
      status = shown.status;
      Object.assign(headers, shown.headers);
      body = shown.body === null ? null : toBody(ctx, c, shown.body, headers);
    }
  } catch (error) {
    const failure = toErrorAnswer(error, requestId);
    status = failure.status;
    Object.assign(headers, failure.headers, headersOfFailure(row, c, status, headers));
    body = JSON.stringify(failure.body);
    if (status >= 500) logFailure(ctx, name, requestId, error);
  }
  recordRequest(ctx, c, { route: name, gateway: row.gateway ?? 'rest', requestId, status, startMs });
  return new Response(body, { status, headers });
}

/** An answer under way. */
interface Answering {
  readonly ctx: HttpContext;
  readonly room: AnswerRoom;
  readonly name: EndpointName;
  readonly requestId: string;
  readonly c: Context;
  readonly readers: Readers;
}

function openStream({ ctx, room, name, requestId, c, readers }: Answering, row: Endpoint, stream: SseAnswer) {
  // Without a reader nothing would ever close it.
  if (c.req.method === 'HEAD' || connectionOf(c)?.incoming.socket.destroyed) return '';
  if (row.method === 'GET') connectionOf(c)?.outgoing.once('close', ctx.drain.begin('streams'));
  // A repetition reads a stored stream; a GET was admitted before it was handled.
  else if (stream.isRead) room.admit(readers, name);
  return sseBody(stream, {
    ...linkOf(ctx, name, requestId, c),
    sent: (bytes) => stream.isRead && room.streamed(readers, name, bytes),
  });
}

const sendContent = ({ ctx, room, name, requestId, c, readers }: Answering, answered: FileAnswer) =>
  contentBody(answered, c, {
    group: clientNetwork(ctx, c),
    hold: () => room.take(readers, name, answered.heldBytes),
    sent: (bytes) => room.streamed(readers, name, bytes),
    breakOff: (reason) => breakOff(ctx, name, requestId, c, reason),
  });

function headersOfFailure(row: Endpoint, c: Context, status: number, headers: Readonly<Record<string, string>>) {
  return {
    // RFC 9110, section 15.5.2.
    ...(status === 401 ? { 'www-authenticate': headers['www-authenticate'] ?? 'Bearer' } : {}),
    ...(row.bytes === 'sent' && isUnread(c) ? { connection: 'close' } : {}),
  };
}

/** True for a request with a large part that is still to come: on a connection that stays open, the server would read and drop it. */
const isUnread = (c: Context): boolean =>
  connectionOf(c)?.incoming.complete === false && Number(c.req.header('content-length') ?? Infinity) > MAX_BODY_BYTES;

/** Counts an answer that only reads against its readers' room until it is taken. Only these may be refused: asking again does no harm. */
export function countUntilTaken(c: Context, take: (bytes: number) => () => void, body: string | Buffer): void {
  const outgoing = connectionOf(c)?.outgoing;
  if (!outgoing) return;
  const taken = take(Buffer.byteLength(body));
  if (outgoing.destroyed) taken();
  else outgoing.once('close', taken);
}

export const readersOf = (ctx: HttpContext, c: Context, caller: Caller): Readers =>
  caller.kind === 'anonymous' ? [clientNetwork(ctx, c)] : [clientNetwork(ctx, c), caller.accountId];

/** The body of an answer; a large one is streamed in pieces. Sets its length in the headers. */
export function toBody(
  ctx: HttpContext,
  c: Context,
  answer: string | Buffer<ArrayBuffer>,
  headers: Record<string, string>,
) {
  headers['content-length'] = String(Buffer.byteLength(answer));
  if (answer.length <= PIECE_BYTES) return answer;
  const bytes = typeof answer === 'string' ? Buffer.from(answer) : answer;
  return bodyOf(c, bytes, clientNetwork(ctx, c));
}

/** The connection of a request as that of a stream. */
export const linkOf = (ctx: Pick<HttpContext, 'log'>, route: string, requestId: string, c: Context): StreamLink => ({
  socket: connectionOf(c)?.incoming.socket ?? null,
  breakOff: (reason) => breakOff(ctx, route, requestId, c, reason),
  ended: () => recordStreamEnd(c),
});

/** Ends the connection of a stream: its client reconnects with `Last-Event-ID`. */
function breakOff(ctx: Pick<HttpContext, 'log'>, route: string, requestId: string, c: Context, reason: Error): void {
  if (reason instanceof StalledError) ctx.log.debug({ route, requestId }, 'client stopped reading its stream');
  else logFailure(ctx, route, requestId, reason);
  connectionOf(c)?.outgoing.destroy();
}

export function logFailure(ctx: Pick<HttpContext, 'log'>, route: string, requestId: string, error: unknown): void {
  if (!(error instanceof AppError)) ctx.log.error({ err: error, route, requestId }, 'request failed');
  else if (error.cause) ctx.log.warn({ err: error.cause, code: error.code, route, requestId }, 'request failed');
}
