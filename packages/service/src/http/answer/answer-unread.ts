import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError, invalid } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { commonHeaders } from './common-headers.ts';
import { toErrorAnswer } from './errors.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** State of a connection: its open exchanges, and the number of requests that it brought. */
interface Connection {
  readonly open: Set<Exchange>;
  heard: number;
}

/** Grace after a request's timeout: after a pause of the process the request may wait in the socket's buffer. */
const GRACE_MS = 2000;

/**
 * Answers requests that the server could not read, instead of Node. A request that did not arrive in time gets 503: a 4xx would look like
 * the refusal of an earlier attempt that may have run. A connection without data is closed without an answer, as browsers open some in
 * advance and would take it for the answer to their next request. An unreadable request never gets the answer of a running one before it.
 */
export function answerUnread(server: Server, { graceMs = GRACE_MS, limitMs }: UnreadOptions = {}): void {
  const connections = new WeakMap<Duplex, Connection>();
  const failed = new WeakSet<Duplex>();
  const of = (socket: Duplex): Connection => {
    const known = connections.get(socket) ?? { open: new Set<Exchange>(), heard: 0 };
    connections.set(socket, known);
    return known;
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = of(request.socket);
    const exchange = { request, response };
    connection.heard += 1;
    connection.open.add(exchange);
    response.once('close', () => connection.open.delete(exchange));
  });
  if (limitMs) endLate(server, limitMs);
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    // Node emits an error for every further piece as well.
    if (failed.has(socket)) return;
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
      failed.add(socket);
      return endWith(of(socket), socket, refusalOf(error.code));
    }
    const { heard } = of(socket);
    const isBegun = isIncomplete(of(socket));
    const judge = () => {
      const hasArrived = isBegun ? !isIncomplete(of(socket)) : of(socket).heard > heard && !isIncomplete(of(socket));
      if (hasArrived || failed.has(socket)) return;
      failed.add(socket);
      if (isSilent(socket)) socket.destroy();
      else endWith(of(socket), socket, notArrived());
    };
    // Timers that are late run before what has arrived meanwhile is read; what is set here runs after.
    setTimeout(() => setImmediate(judge), graceMs).unref();
  });
}

interface UnreadOptions {
  readonly graceMs?: number;
  /** Time limit of a request, where the server's own is that of the longest ones. */
  readonly limitMs?: (request: IncomingMessage) => number;
}

const LOOK_MS = 5000;

/** Ends requests that did not arrive within their time limit, as the server does by its own. */
function endLate(server: Server, limitMs: (request: IncomingMessage) => number): void {
  const arriving = new Map<IncomingMessage, number>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
    if (coding === undefined && (length === undefined || length === '0')) return;
    arriving.set(request, performance.now());
    response.once('close', () => arriving.delete(request));
  });
  const look = () => {
    const nowMs = performance.now();
    for (const [request, sinceMs] of arriving) {
      if (request.complete) arriving.delete(request);
      else if (nowMs - sinceMs > limitMs(request)) {
        arriving.delete(request);
        const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
        server.emit('clientError', error, request.socket);
      }
    }
  };
  const timer = setInterval(look, LOOK_MS).unref();
  server.once('close', () => clearInterval(timer));
}

const isIncomplete = ({ open }: Connection) => [...open].some(({ request }) => !request.complete);

const isSilent = (socket: Duplex) => (socket as Socket).bytesRead === 0;

/** Ends a connection: with the answers of the requests that it brought whole, else with the error. */
function endWith({ open }: Connection, socket: Duplex, error: AppError): void {
  if (!socket.writable) return void socket.destroy();
  const working = [...open].filter(({ request }) => request.complete);
  if (working.length === 0) {
    socket.end(textOf(error), () => socket.destroy());
    return;
  }
  socket.pause();
  for (const exchange of working)
    exchange.response.once('close', () => {
      working.splice(working.indexOf(exchange), 1);
      if (working.length === 0) socket.end(() => socket.destroy());
    });
}

const notArrived = () =>
  new AppError(
    'UNAVAILABLE',
    'The request did not arrive in time, and nothing was done. If you sent it before, the earlier one may have run and been paid: repeat it unchanged, with the same payment or Idempotency-Key, to get its answer, or read your requests at GET /invoke/history.',
  );

function refusalOf(code: string | undefined): AppError {
  return code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW'
    ? new AppError('PAYLOAD_TOO_LARGE', 'The headers of the request are too large.')
    : invalid('request', 'is not valid HTTP/1.1');
}

function textOf(error: AppError): string {
  const requestId = newId('req');
  const { status, headers, body } = toErrorAnswer(error, requestId);
  const text = JSON.stringify(body);
  const own = { 'content-type': 'application/json', 'x-request-id': requestId, connection: 'close' };
  const lines = Object.entries({ ...commonHeaders, ...headers, ...own, 'content-length': Buffer.byteLength(text) });
  return `HTTP/1.1 ${status} \r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
}
