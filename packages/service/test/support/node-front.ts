import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../src/compose/local/free-port.ts';

/** Stands before a node, at the address that others know it by: what is taken from there looks like a node that died. */
export interface NodeFront {
  readonly baseUrl: string;
  /** Port that the node itself listens on. */
  readonly port: number;
  die(): Promise<void>;
  revive(): Promise<void>;
}

export async function startNodeFront(): Promise<NodeFront> {
  const port = await freePort(0);
  const server = createServer((message, response) => passOn(port, message, response));
  // Longer than clients keep an idle connection: one that is sent on as it ends is reset.
  server.keepAliveTimeout = 65_000;
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const own = await listen(0);
  return {
    baseUrl: `http://127.0.0.1:${own}`,
    port,
    async die() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    revive: async () => void (await listen(own)),
  };
}

function passOn(port: number, message: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = message;
  const options = { host: '127.0.0.1', port, ...(method ? { method } : {}), ...(url ? { path: url } : {}), headers };
  const passed = request(options, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  message.pipe(passed);
}
