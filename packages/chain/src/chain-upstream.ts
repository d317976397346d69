import { Agent, type IncomingMessage, request } from 'node:http';

/** What anvil answers a call with: a result or an error, as it is. */
export type UpstreamAnswer = { result?: unknown; error?: { code: number; message: string; data?: unknown } };

/** Kept-alive connections to anvil: any number of readers, and one for what changes the chain, so that its order holds. */
export type ChainUpstream = {
  /** Sends a request as it is. The response is the caller's to read or to destroy. */
  forward(body: Buffer): Promise<IncomingMessage>;
  /** Makes a call that changes the chain. Throws only when anvil cannot be asked or gives no answer. */
  call(method: string, params: readonly unknown[]): Promise<UpstreamAnswer>;
  /** Mines one block with this time. Throws as well when anvil refuses. */
  mine(atS: number): Promise<void>;
  close(): void;
};

const MAX_READERS = 64;

export function openChainUpstream(port: number): ChainUpstream {
  const readers = new Agent({ keepAlive: true, maxSockets: MAX_READERS });
  const writer = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = (agent: Agent, body: Buffer) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const call = request({ host: '127.0.0.1', port, method: 'POST', agent, headers });
      call.once('response', resolve).once('error', reject);
      call.end(body);
    });
  const write = async <Answer>(value: unknown): Promise<Answer> => {
    const response = await post(writer, Buffer.from(JSON.stringify(value)));
    return JSON.parse(Buffer.concat(await response.toArray()).toString()) as Answer;
  };
  return {
    forward: (body) => post(readers, body),
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
