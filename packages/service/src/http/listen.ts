import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Config } from '../config.ts';
import { AppError, invalid } from '../lib/app-error.ts';
import { newId } from '../lib/id.ts';
import type { StopStep } from '../lib/process/graceful-stop.ts';
import { answerUnread } from './answer/answer-unread.ts';
import { createAnswerWatch, watched } from './answer/answer-watch.ts';
import { commonHeaders } from './answer/common-headers.ts';
import { toErrorAnswer } from './answer/errors.ts';
import { inTurn, type RequestListener } from './request/in-turn.ts';
import { joinChunks } from './request/join-chunks.ts';
import { limitConnections } from './request/limit-connections.ts';
import { createRetirement } from './request/retirement.ts';

type Fetch = Hono['fetch'];

export interface Front {
  readonly port: number;
  /** Admission decides about a request before anything else is done with it. */
  serve(fetch: Fetch, admission?: (listener: RequestListener) => RequestListener): void;
  /** Listens, unless it does already. */
  open(): Promise<void>;
  /**
   * Takes no more connections, and ends each one with its next answer: callers and proxies go to another process. Resolves when those
   * that are in use have ended so.
   */
  retire(): Promise<void>;
}

/** Time in which connections that are kept alive bring another request, which is served as ever. */
const LAST_REQUESTS_MS = 600;
/** Connections that wait to be accepted, as far as the system allows: those beyond would try again after a second. */
const BACKLOG = 4096;
/** Time for answers under way after all work has ended or was handed over. */
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
    requestTimeout: 60_000,
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
  answerUnread(server);
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
  };
}

/** The base URL is made of the port, or nobody else knows which one is free. */
const isAddressNeeded = ({ baseUrl, port }: Pick<Config, 'baseUrl' | 'port'>) => baseUrl === null || port === 0;

/** Node takes the first and drops the others; a proxy in front may have judged another one (RFC 9112, section 3.2). */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] as string)) hosts += 1;
  return hosts > 1;
}

/** A target has none (RFC 9112, section 3.2): the router reads a path up to it, a proxy or admission might read on. */
const hasFragment = ({ url }: IncomingMessage): boolean => url?.includes('#') === true;

/** Answers a request whose target and Host make no URL. */
function refuseUnread(error: unknown): Response {
  if (!(error instanceof RequestError)) return refusal(error);
  return refusal(
    error.message === 'Missing host header'
      ? invalid('Host', 'is missing')
      : invalid('request', 'has no valid URL and Host'),
  );
}

/** Ends the connection: what else it brings cannot be trusted, or finds nothing yet. */
function refusal(error: unknown): Response {
  const requestId = newId('req');
  const { status, headers, body } = toErrorAnswer(error, requestId);
  const own = { connection: 'close', 'content-type': 'application/json', 'x-request-id': requestId };
  return new Response(JSON.stringify(body), { status, headers: { ...commonHeaders, ...headers, ...own } });
}
