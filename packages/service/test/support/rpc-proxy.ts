import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { request as post } from 'undici';
import { numberToHex } from 'viem';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Asks the chain; answers its answer, unread. */
  forward(): Promise<string>;
  /** An answer as the chain would give it. */
  answer(result: unknown): string;
  refuse(message: string): string;
  /** Height of the chain. */
  head(): Promise<number>;
}

/** Returns the answer of a call, or null to close the connection without one. */
export type RpcRule = (call: RpcCall) => Promise<string | null> | string | null;

export interface RpcProxy {
  readonly url: string;
  /** From now on calls of this method are treated like this; null: passed on again. */
  rule(method: string, rule: RpcRule | null): void;
  stop(): Promise<void>;
}

/** Proxy between a service and its chain that simulates network faults per method; calls of a batch are treated one by one. */
export async function startRpcProxy(chainUrl: string): Promise<RpcProxy> {
  const rules = new Map<string, RpcRule>();
  const server = createServer((message, response) => {
    treat(message, response, chainUrl, rules).catch(() => response.destroy());
  });
  // Longer than clients keep an idle connection: one that is sent on as it ends is reset.
  server.keepAliveTimeout = 65_000;
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

/** From now on calls are answered by an RPC node that is only at this height, except about what is pending. */
export function answerCallsAt({ proxy, chain }: { proxy: RpcProxy; chain: { rpcUrl: string } }, height: bigint): void {
  proxy.rule('eth_call', async ({ params: [call, block], forward, answer, refuse }) => {
    if (block === 'pending') return forward();
    if (block !== 'latest' && BigInt(block as string) > height) return refuse('header not found');
    return answer(await callChain(chain.rpcUrl, 'eth_call', call, numberToHex(height)));
  });
}

/** From now on queries for the logs of more blocks than this are refused, as many RPC nodes do. */
export function limitLogQueries(proxy: RpcProxy, maxBlocks: bigint): void {
  proxy.rule('eth_getLogs', ({ params: [filter], forward, refuse }) => {
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
    return BigInt(toBlock) - BigInt(fromBlock) < maxBlocks ? forward() : refuse('query exceeds the limit of blocks');
  });
}

/** From now on the logs of so many of the newest blocks are left out of every answer, without an error. */
export function leaveOutLogs(proxy: RpcProxy, blocks: number): void {
  proxy.rule('eth_getLogs', async ({ forward, answer, head }) => {
    const { result } = JSON.parse(await forward());
    const first = (await head()) - blocks + 1;
    return answer((result as { blockNumber: string }[]).filter(({ blockNumber }) => Number(blockNumber) < first));
  });
}

async function treat(
  message: IncomingMessage,
  response: ServerResponse,
  chainUrl: string,
  rules: ReadonlyMap<string, RpcRule>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const body: RpcRequest | RpcRequest[] = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const requests = [body].flat();
  const isDisturbed = requests.some(({ method }) => rules.has(method));
  const answers = isDisturbed
    ? await Promise.all(requests.map((request) => answerTo(request, chainUrl, rules)))
    : [await ask(chainUrl, body)];
  if (answers.includes(null)) return void response.destroy();
  const answer = isDisturbed && Array.isArray(body) ? `[${answers.join()}]` : answers[0];
  response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
}

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

async function ask(chainUrl: string, body: RpcRequest | RpcRequest[]): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await post(chainUrl, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.body.text();
}

function answerTo(request: RpcRequest, chainUrl: string, rules: ReadonlyMap<string, RpcRule>) {
  const forward = () => ask(chainUrl, request);
  const reply = (rest: object) => JSON.stringify({ jsonrpc: '2.0', id: request.id, ...rest });
  const rule = rules.get(request.method);
  if (!rule) return forward();
  return rule({
    method: request.method,
    params: request.params,
    forward,
    head: async () => Number(await callChain(chainUrl, 'eth_blockNumber')),
    answer: (result) => reply({ result }),
    refuse: (reason) => reply({ error: { code: -32_000, message: reason } }),
  });
}
