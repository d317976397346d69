import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPublicClient } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rpcTransport } from './rpc-transport.ts';

let server: Server;
let respond: RequestListener;
beforeAll(async () => {
  server = createServer((request, response) => respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const clientOf = (options: { timeout: number; retryCount: number }) =>
  createPublicClient({
    transport: rpcTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options),
  });
const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0xa' });

it('an RPC node that asks to be left alone for a day is asked again within seconds', async () => {
  const statuses = [429, 503, 200];
  respond = (_, response) => {
    const status = statuses.shift() ?? 200;
    response.writeHead(status, status === 200 ? {} : { 'retry-after': '86400' }).end(status === 200 ? answer : 'busy');
  };
  expect(await clientOf({ timeout: 60_000, retryCount: 1 }).getGasPrice().catch(String)).toContain(
    'asks for a pause of 86400 s',
  );
  expect(await clientOf({ timeout: 60_000, retryCount: 1 }).getGasPrice()).toBe(10n);
});

it('an answer of the RPC node that does not end times out', async () => {
  const held: unknown[] = [];
  respond = (_, response) => {
    held.push(response.writeHead(200, { 'content-type': 'application/json' }).write(answer.slice(0, 20)));
  };
  await expect(clientOf({ timeout: 500, retryCount: 0 }).getGasPrice()).rejects.toThrow();
  expect(held).toHaveLength(1);
});
