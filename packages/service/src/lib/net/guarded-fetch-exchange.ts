import type { Dispatcher } from 'undici';
import { GuardedFetchError, type GuardedFetchErrorKind } from './guarded-fetch-error.ts';

export type GuardedRequest = {
  url: string;
  method: string;
  /** Header names in lower case. */
  headers?: Record<string, string> | undefined;
  body?: string | Uint8Array | undefined;
  /** Time from the call to the last byte of the answer, including the wait for a connection. */
  timeoutMs: number;
  /** Maximum bytes of the answer. */
  maxBytes: number;
  /** Lets the answer be longer; absent: `maxBytes` is the end of it. */
  more?: MoreRoom | undefined;
  /** The caller looks at the status alone: a body that is compressed all the same is no failure. */
  takesEncoded?: boolean | undefined;
  signal?: AbortSignal | undefined;
};

/** Room for an answer that is longer than most. Nothing more of it is read before `enter` resolves. */
export type MoreRoom = {
  maxBytes: number;
  /** Resolves false if there is no room in time. */
  enter(): Promise<boolean>;
  /** Time for the rest, so that a slow sender does not keep the room. */
  timeoutMs: number;
};

export type ResponseHead = { status: number; headers: Record<string, string | string[] | undefined> };

export type ExchangeSink = {
  onHead(head: ResponseHead): void;
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  onFail(error: unknown): void;
};

export type Exchange = { fail(kind: GuardedFetchErrorKind): void; pause(): void; resume(): void };

/**
 * Runs one request under every limit and reports its answer to the sink as it arrives: at most one head, chunks, then exactly one of end
 * and fail. A failure closes the connection.
 */
export function startExchange(agent: Dispatcher, url: URL, request: GuardedRequest, sink: ExchangeSink): Exchange {
  const { method, headers = {}, body = null, timeoutMs, maxBytes, more, signal } = request;
  let controller: Dispatcher.DispatchController | undefined;
  let failure: Error | undefined;
  let isOver = false;
  let byteCount = 0;
  let most = maxBytes;
  let isWaiting = false;
  let late: NodeJS.Timeout | undefined;

  const fail = (kind: GuardedFetchErrorKind) => isOver || finish(new GuardedFetchError(kind));
  const onAbort = () => fail('aborted');
  const deadline = setTimeout(fail, timeoutMs, 'timeout');
  signal?.addEventListener('abort', onAbort, { once: true });

  function finish(error?: Error): void {
    if (isOver) return;
    isOver = true;
    failure = error;
    clearTimeout(deadline);
    clearTimeout(late);
    signal?.removeEventListener('abort', onAbort);
    if (error) {
      controller?.abort(error);
      sink.onFail(error);
    } else sink.onEnd();
  }

  const resume = () => void (isWaiting || controller?.resume());
  async function awaitRoom(room: MoreRoom): Promise<void> {
    most = room.maxBytes;
    isWaiting = true;
    controller?.pause();
    const isIn = await room.enter().catch(() => false);
    isWaiting = false;
    if (isOver) return;
    if (!isIn) return void fail('timeout');
    late = setTimeout(fail, room.timeoutMs, 'timeout');
    resume();
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (failure) started.abort(failure);
    },
    onResponseStart(_controller, status, responseHeaders) {
      if (status < 200) return;
      const refusal = refuseHead(status, responseHeaders, request);
      if (refusal) fail(refusal);
      else sink.onHead({ status, headers: responseHeaders });
    },
    onResponseData(_controller, chunk) {
      if (isOver) return;
      byteCount += chunk.length;
      if (byteCount > most && more && most < more.maxBytes) void awaitRoom(more);
      if (byteCount > most) fail('too_large');
      else sink.onChunk(chunk);
    },
    onResponseEnd: () => finish(),
    onResponseError: (_controller, error) => finish(failureOf(error, controller !== undefined)),
  };

  if (signal?.aborted) onAbort();
  else agent.dispatch({ origin: url.origin, path: url.pathname + url.search, method, headers, body }, handler);
  return { fail, pause: () => controller?.pause(), resume };
}

/** True for an answer that is compressed although the request did not allow it. */
export const isEncoded = ({ 'content-encoding': encoding }: ResponseHead['headers']): boolean =>
  encoding !== undefined && encoding !== 'identity';

function refuseHead(
  status: number,
  headers: ResponseHead['headers'],
  { maxBytes, more, method, takesEncoded = false }: GuardedRequest,
): GuardedFetchErrorKind | undefined {
  if (status >= 300 && status < 400) return 'redirect';
  if (!takesEncoded && isEncoded(headers)) return 'encoding';
  if (method !== 'HEAD' && Number(headers['content-length']) > (more?.maxBytes ?? maxBytes)) return 'too_large';
  return undefined;
}

function failureOf(error: Error & { code?: string }, isSent: boolean): Error {
  if (error instanceof GuardedFetchError) return error;
  switch (error.code) {
    case 'UND_ERR_INVALID_ARG':
      return error;
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return new GuardedFetchError('aborted', { cause: error });
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'HPE_HEADER_OVERFLOW':
      return new GuardedFetchError('too_large', { cause: error });
    default:
      return new GuardedFetchError(isSent ? 'reset' : 'connect', { cause: error });
  }
}
