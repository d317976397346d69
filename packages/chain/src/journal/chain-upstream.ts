import { Agent, type IncomingMessage, request } from 'node:http';

/** anvil's answer to a call, unchanged: a result or an error. */
export type UpstreamAnswer = { result?: unknown; error?: { code: number; message: string; data?: unknown } };

/** Keep-alive connections to anvil: any number for reads, and one for changes, which keeps them in order. */
export type ChainUpstream = {
  /** Forwards a request unchanged, until the signal. The caller reads or destroys the response. */
  forward(body: Buffer, signal: AbortSignal): Promise<IncomingMessage>;
  /** Makes a call that changes the chain. Throws only when anvil is unreachable or does not answer. */
  call(method: string, params: readonly unknown[]): Promise<UpstreamAnswer>;
  /** Mines one block with this time. Also throws when anvil refuses. */
  mine(atS: number): Promise<void>;
  close(): void;
};

const MAX_READERS = 64;

export function openChainUpstream(port: number): ChainUpstream {
  const readers = new Agent({ keepAlive: true, maxSockets: MAX_READERS });
  const writer = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = (agent: Agent, body: Buffer, signal?: AbortSignal) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const call = request({ host: '127.0.0.1', port, method: 'POST', agent, headers, ...(signal && { signal }) });
      call.once('response', resolve).once('error', reject);
      call.end(body);
    });
  const write = async <Answer>(value: unknown): Promise<Answer> => {
    const response = await post(writer, Buffer.from(JSON.stringify(value)));
    return JSON.parse(Buffer.concat(await response.toArray()).toString()) as Answer;
  };
  return {
    forward: (body, signal) => post(readers, body, signal),
    async call(method, params) {
      const { result = null, error } = await write<UpstreamAnswer>(toCall(method, params));
      return error ? { error } : { result };
    },
    async mine(atS) {
      const calls = [toCall('evm_setNextBlockTimestamp', [atS]), toCall('evm_mine', [])];
      for (const { error } of await write<UpstreamAnswer[]>(calls))
        if (error) throw new Error(`the chain does not mine a block at ${atS}: ${error.message}`);
    },
    close() {
      readers.destroy();
      writer.destroy();
    },
  };
}

const toCall = (method: string, params: readonly unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
