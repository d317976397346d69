import { type HttpTransport, type HttpTransportConfig, http } from 'viem';
import { traced } from '../../lib/tracing/tracing.ts';
import { rpcBounds } from './rpc-bounds.ts';

interface RpcTransportOptions extends HttpTransportConfig {
  readonly timeout: number;
}

/** The way to the chain: JSON-RPC over HTTP, each request in a span of the current trace. The endpoint is not told of the trace. */
export function rpcTransport(rpcUrl: string, options: RpcTransportOptions): HttpTransport {
  const open = http(rpcUrl, { ...options, ...rpcBounds(options.timeout) });
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
