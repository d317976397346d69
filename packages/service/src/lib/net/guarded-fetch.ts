import { Agent } from 'undici';
import { createBytePieces } from '../byte-pieces.ts';
import { traced, traceHeaders } from '../telemetry/tracing.ts';
import { checkUrl, isLoopbackHost, type UrlCheck } from './guarded-fetch-address.ts';
import { guardedConnector, type Resolve } from './guarded-fetch-connect.ts';
import { GuardedFetchError } from './guarded-fetch-error.ts';
import { type GuardedRequest, type ResponseHead, startExchange } from './guarded-fetch-exchange.ts';
import { createResolver } from './guarded-fetch-resolve.ts';
import { type GuardedStream, type GuardedStreamRequest, openStream } from './guarded-fetch-stream.ts';

export { GuardedFetchError };

export type GuardedResponse = ResponseHead & { body: Buffer };

export type GuardedFetch = {
  /** Sends a request and reads the whole answer. Rejects with `GuardedFetchError`; any status except 3xx is an answer. */
  request(request: GuardedRequest): Promise<GuardedResponse>;
  /** Sends a request and returns the body as a stream. */
  stream(request: GuardedStreamRequest): Promise<GuardedStream>;
  /** Checks a URL under the same rules without resolving or calling anything. */
  checkUrl(url: string): UrlCheck;
  /** Aborts running exchanges and closes every connection. */
  close(): Promise<void>;
};

/** Calls to addresses that strangers gave us. */
export interface Outbound {
  readonly guardedFetch: GuardedFetch;
}

export type GuardedFetchOptions = {
  /** Allows http, loopback and private networks; link-local, metadata and multicast addresses stay refused. */
  allowPrivate: boolean;
  userAgent: string;
  /** Maximum connections per origin; further requests wait. */
  connections?: number;
  connectTimeoutMs?: number;
  resolve?: Resolve;
};

/**
 * Creates the only client for URLs that strangers gave us. HTTP/1.1 without redirects, compression, proxies or TLS session reuse. It checks
 * every address when it connects, so a changing DNS answer (rebinding) gains nothing.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { allowPrivate, userAgent, connections = 128, connectTimeoutMs = 5_000, resolve = createResolver() } = options;
  const agent = new Agent({
    connect: guardedConnector({ allowPrivate, connectTimeoutMs, resolve }),
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  function prepare<R extends GuardedRequest>(request: R): { url: URL; request: R } {
    const check = checkUrl(request.url, { allowPrivate });
    if (!check.ok) throw new GuardedFetchError(check.kind);
    const headers = { 'user-agent': userAgent, ...request.headers, 'accept-encoding': 'identity', ...traceHeaders() };
    return { url: check.url, request: { ...request, headers } };
  }

  return {
    request: (input) =>
      inSpan(input, async () => {
        const { url, request } = prepare(input);
        return readWhole(agent, url, request).catch((error) => namePlace(url, error));
      }),
    stream: (input) =>
      inSpan(input, async () => {
        const { url, request } = prepare(input);
        return openStream(agent, url, request).catch((error) => namePlace(url, error));
      }),
    checkUrl: (url) => checkUrl(url, { allowPrivate }),
    close: () => agent.destroy(),
  };
}

/** A refused connection of this machine names its place. Only local mode connects there, and the place is the endpoint's own. */
function namePlace(url: URL, error: unknown): never {
  if (!(error instanceof GuardedFetchError) || error.kind !== 'connect' || !isLoopbackHost(url.hostname)) throw error;
  const message = 'No program answers at this address on this machine.';
  throw new GuardedFetchError('connect', { message, cause: error.cause, isSent: !error.isRetryable });
}

/** Traces a request by its host only, as paths and queries may contain secrets. */
const inSpan = <T>({ method = 'GET', url }: GuardedRequest, send: () => Promise<T>): Promise<T> =>
  traced(`call ${method}`, 'client', () => ({ 'server.address': URL.parse(url)?.host ?? '' }), send);

function readWhole(agent: Agent, url: URL, request: GuardedRequest): Promise<GuardedResponse> {
  return new Promise((resolve, reject) => {
    const pieces = createBytePieces();
    let head: ResponseHead = { status: 0, headers: {} };
    startExchange(agent, url, request, {
      onHead(received) {
        head = received;
      },
      onChunk: pieces.add,
      onEnd: () => resolve({ ...head, body: pieces.take() }),
      onFail: reject,
    });
  });
}
