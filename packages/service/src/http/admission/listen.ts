import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as TcpServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Config } from '../../config/config.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { createBytePieces } from '../../lib/byte-pieces.ts';
import { newId } from '../../lib/id.ts';
import { isInRanges, networkOf } from '../../lib/net/address-ranges.ts';
import type { StopStep } from '../../lib/process/graceful-stop.ts';
import { answerUnread } from '../answer/answer-unread.ts';
import { createAnswerWatch, watched } from '../answer/answer-watch.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { inTurn, type RequestListener } from './admission.ts';

type Fetch = Hono['fetch'];

export interface Front {
  readonly port: number;
  /** Admission decides about a request before anything else is done with it. */
  serve(fetch: Fetch, admission?: (listener: RequestListener) => RequestListener): void;
  /** Listens, unless it does already. */
  open(): Promise<void>;
  /**
   * Stops accepting connections, and closes each open one with its next answer, so that clients go to another process. Resolves when those
   * in use are closed.
   */
  retire(): Promise<void>;
  /** Resolves when no request is being answered, or after half a second. */
  lastAnswers(): Promise<void>;
}

/** Time in which a request has to arrive; uploads of files have limits of their own besides. */
const REQUEST_MS = 60_000;
const UPLOAD_MS = 11 * 60_000;
const UPLOADS = /^\/(v1\/)?files(?=[/?]|$)/;
/** Time in which connections that are kept alive bring another request, which is served as ever. */
const LAST_REQUESTS_MS = 600;
/** Connections that wait to be accepted, as far as the system allows: those beyond would try again after a second. */
const BACKLOG = 4096;
/** Time for answers under way after all work has ended or was handed over, while the database can still be asked. */
const LAST_ANSWERS_MS = 500;

/**
 * The server of a node. It listens at once where its address has to be known, and answers 503 until `serve` sets a handler. Otherwise it
 * listens when it is opened: a proxy asks another process only if this one refuses the connection.
 */
export async function listen(
  config: Pick<Config, 'host' | 'port' | 'baseUrl' | 'connectionLimits' | 'trustedProxies'>,
  stops: StopStep[],
): Promise<Front> {
  let serving: Fetch | null = null;
  const watch = createAnswerWatch();
  const answer: Fetch = (request, env) => {
    if (hasSeveralHosts((env as HttpBindings).incoming)) return refusal(invalid('Host', 'is given more than once'));
    if (hasFragment((env as HttpBindings).incoming)) return refusal(invalid('request', 'has a fragment in its target'));
    return serving ? serving(request, env) : refusal(new AppError('UNAVAILABLE', 'The node is starting.'));
  };
  const listener: RequestListener = getRequestListener(watched(answer, watch), { errorHandler: refuseUnread });
  let admitted = listener;
  const serverOptions = {
    maxHeaderSize: 32 * 1024,
    headersTimeout: 10_000,
    requestTimeout: UPLOAD_MS,
    connectionsCheckingInterval: 5000,
    keepAliveTimeout: 65_000,
    // A request without Host is refused below, with a body.
    requireHostHeader: false,
  };
  const serve = inTurn((incoming, outgoing) => admitted(incoming, outgoing));
  const server = createServer(serverOptions, (incoming, outgoing) => {
    joinChunks(incoming);
    serve(incoming, outgoing);
  });
  server.maxHeadersCount = 100;
  const retiring = createRetirement(server);
  limitConnections(server, config);
  answerUnread(server, { limitMs: ({ url }) => (UPLOADS.test(url ?? '') ? UPLOAD_MS : REQUEST_MS) });
  const open = async () => {
    if (server.listening) return;
    server.listen(config.port, config.host, BACKLOG);
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw new Error(`port ${config.port} of ${config.host} is in use; stop what listens there, or set another PORT`, {
        cause: error,
      });
    });
  };
  if (isAddressNeeded(config)) await open();
  stops.push({
    name: 'HTTP server',
    async stop() {
      watch.stop();
      retiring.begin();
      await retiring.lastAnswers(LAST_ANSWERS_MS);
      server.close();
      server.closeAllConnections();
      await retiring.closed;
    },
  });
  return {
    port: server.listening ? (server.address() as AddressInfo).port : config.port,
    open,
    serve(fetch, admission = (unguarded) => unguarded) {
      serving = fetch;
      admitted = admission(listener);
    },
    async retire() {
      // Connections that the system has already accepted are ours: closing would reset them.
      await new Promise((resolve) => setImmediate(resolve));
      retiring.begin();
      await retiring.lastConnections(LAST_REQUESTS_MS);
    },
    lastAnswers: () => retiring.lastAnswers(LAST_ANSWERS_MS),
  };
}

/** True if the base URL contains the port, or the port is chosen at random. */
const isAddressNeeded = ({ baseUrl, port }: Pick<Config, 'baseUrl' | 'port'>) => baseUrl === null || port === 0;

/** Node takes the first and drops the others; a proxy in front may have judged another one (RFC 9112, section 3.2). */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] as string)) hosts += 1;
  return hosts > 1;
}

/** A target has none (RFC 9112, section 3.2): the router reads a path up to it, a proxy or admission might read on. */
const hasFragment = ({ url }: IncomingMessage): boolean => url?.includes('#') === true;

/** Refuses a request with a target and Host that do not form a URL. */
function refuseUnread(error: unknown): Response {
  if (!(error instanceof RequestError)) return refusal(error);
  return refusal(
    error.message === 'Missing host header'
      ? invalid('Host', 'is missing')
      : invalid('request', 'has no valid URL and Host'),
  );
}

/** Refuses a request and closes its connection, as later data on it can't be trusted, or can't be served yet. */
function refusal(error: unknown): Response {
  const requestId = newId('req');
  const { status, headers, body } = toErrorAnswer(error, requestId);
  const own = { connection: 'close', 'content-type': 'application/json', 'x-request-id': requestId };
  return new Response(JSON.stringify(body), { status, headers: { ...commonHeaders, ...headers, ...own } });
}

const JOINED_BYTES = 16 * 1024;

/**
 * Joins the pieces of a body as they arrive, up to 16 KiB or its end. Otherwise Node keeps each chunk or packet as a buffer of its own,
 * with an overhead of 200 bytes and more, until the request is read, which may wait for its turn. Call it before the first piece arrives.
 */
export function joinChunks(incoming: IncomingMessage): void {
  const { 'transfer-encoding': coding, 'content-length': length } = incoming.headers;
  if (coding === undefined && (length === undefined || length === '0')) return;
  const chunks = createBytePieces();
  const push = incoming.push.bind(incoming);
  incoming.push = (chunk: Buffer | null) => {
    if (chunk !== null) chunks.add(chunk);
    // Only what was pushed may hold the sender back: its reader would not ask for more.
    if (chunk !== null && chunks.byteLength < JOINED_BYTES) return true;
    const isWanted = chunks.byteLength === 0 || push(chunks.take());
    return chunk === null ? push(null) : isWanted;
  };
}

/**
 * Ends connections beyond the limit of one network address, or of all. Trusted proxies carry many clients and must limit those themselves.
 */
function limitConnections(
  server: Server,
  { connectionLimits, trustedProxies }: Pick<Config, 'connectionLimits' | 'trustedProxies'>,
): void {
  const open = new Map<string, number>();
  server.maxConnections = connectionLimits.max;
  server.on('connection', (socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isInRanges(address, trustedProxies)) return;
    const network = networkOf(address) ?? address;
    const count = (open.get(network) ?? 0) + 1;
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 0) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
    if (count > connectionLimits.maxPerAddress) socket.destroy();
  });
}

/** The end of a server, without a request that is cut off. */
interface Retirement {
  /**
   * Refuses new connections. Open ones continue, idle ones too, as a proxy may be sending on them right now; each ends with its next
   * answer.
   */
  begin(): void;
  /** Resolves when every connection has ended by its answer, or after `maxMs`. */
  lastConnections(maxMs: number): Promise<void>;
  /** Resolves when no request is being answered, or after `maxMs`. */
  lastAnswers(maxMs: number): Promise<void>;
  /** Resolves when the server has stopped listening and every connection has ended. */
  readonly closed: Promise<void>;
}

/** Follows the server's answers from the start. */
export function createRetirement(server: Server): Retirement {
  const open = new Set<ServerResponse>();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let hasBegun = false;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (hasBegun) response.shouldKeepAlive = false;
    open.add(response);
    response.once('close', () => open.delete(response));
  });
  return {
    closed,
    begin() {
      if (hasBegun) return;
      hasBegun = true;
      for (const response of open) response.shouldKeepAlive = false;
      // The `close` of net: that of http would end idle connections at once.
      TcpServer.prototype.close.call(server, () => resolve());
    },
    lastConnections: (maxMs) => Promise.race([closed, delay(maxMs, undefined, { ref: false })]),
    async lastAnswers(maxMs) {
      const limit = AbortSignal.timeout(maxMs);
      while (open.size > 0 && !limit.aborted) {
        const [response] = open;
        if (!response) return;
        await Promise.race([
          once(response, 'close').catch(() => undefined),
          delay(maxMs, undefined, { signal: limit, ref: false }).catch(() => undefined),
        ]);
      }
    },
  };
}
