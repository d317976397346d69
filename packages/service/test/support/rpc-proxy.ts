import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Asks the chain; answers its answer, unread. */
  forward(): Promise<string>;
  /** An answer as the chain would give it. */
  answer(result: unknown): string;
  refuse(message: string): string;
}

/** What becomes of a call: its answer, or null to break the connection off without one. */
export type RpcRule = (call: RpcCall) => Promise<string | null> | string | null;

export interface RpcProxy {
  readonly url: string;
  /** From now on calls of this method are treated like this; null: passed on again. */
  rule(method: string, rule: RpcRule | null): void;
  stop(): Promise<void>;
}

/** Stands between a service and its chain, and does to single methods what networks do. */
export async function startRpcProxy(chainUrl: string): Promise<RpcProxy> {
  const rules = new Map<string, RpcRule>();
  const server = createServer((message, response) => {
    treat(message, response, chainUrl, rules).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rule(method, rule) {
      if (rule) rules.set(method, rule);
      else rules.delete(method);
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function treat(
  message: IncomingMessage,
  response: ServerResponse,
  chainUrl: string,
  rules: ReadonlyMap<string, RpcRule>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const request = JSON.parse(text);
  const forward = async () => {
    const answer = await fetch(chainUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    return answer.text();
  };
  const reply = (rest: object) => JSON.stringify({ jsonrpc: '2.0', id: request.id, ...rest });
  const rule = rules.get(request.method);
  const answer = rule
    ? await rule({
        method: request.method,
        params: request.params,
        forward,
        answer: (result) => reply({ result }),
        refuse: (reason) => reply({ error: { code: -32_000, message: reason } }),
      })
    : await forward();
  if (answer === null) return void response.destroy();
  response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
}
