import { fallback, HttpRequestError, type HttpTransportConfig, http, type Transport } from 'viem';
import { traced } from '../../lib/telemetry/tracing.ts';

interface RpcTransportOptions extends HttpTransportConfig {
  readonly timeout: number;
}

/**
 * Transport to the chain: JSON-RPC over HTTP, each request in a span of the current trace, which is not sent to the endpoint. With several
 * addresses, separated by spaces, each is tried when the one before does not answer.
 */
export function rpcTransport(rpcUrls: string, options: RpcTransportOptions): Transport {
  const ways = rpcUrls.split(' ').map((rpcUrl) => http(rpcUrl, { ...options, ...rpcBounds(options.timeout) }));
  const [only] = ways;
  const open: Transport = only && ways.length === 1 ? only : fallback(ways, { retryCount: 0 });
  return (parameters) => {
    const transport = open(parameters);
    const { request } = transport;
    const tracedRequest = (args: { method: string }) =>
      traced(
        'chain',
        'client',
        () => ({ 'rpc.method': args.method }),
        () => request(args as never),
      );
    return { ...transport, request: tracedRequest as typeof request };
  };
}

/** Longest pause for which an RPC node may ask before a request is repeated. */
const MAX_PAUSE_S = 1;

/**
 * Adds limits that viem lacks: its timeout ends with the headers, so a body may never come, and before a retry it waits as long as
 * `Retry-After` says, even a day. Here a whole answer has twice the timeout, and long values of `Retry-After` are hidden from viem.
 */
const rpcBounds = (timeoutMs: number): Pick<HttpTransportConfig, 'onFetchRequest' | 'onFetchResponse'> => ({
  onFetchRequest(_, init) {
    const ending = new AbortController();
    const { signal } = init;
    signal?.addEventListener('abort', () => ending.abort(signal.reason), { once: true });
    const late = () => ending.abort(new Error(`the RPC node did not end its answer within ${2 * timeoutMs} ms`));
    setTimeout(late, 2 * timeoutMs).unref();
    return { ...init, signal: ending.signal };
  },
  async onFetchResponse({ ok, url, status, statusText, headers, body }) {
    const pauseS = Number.parseInt(headers.get('retry-after') ?? '', 10);
    if (ok || !(pauseS > MAX_PAUSE_S)) return;
    await body?.cancel();
    throw new HttpRequestError({ url, status, details: `${statusText}: asks for a pause of ${pauseS} s` });
  },
});
