import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';

/** Stands before a node, at the address that others know it by: what is taken from there looks like a node that died. */
export interface NodeFront {
  readonly baseUrl: string;
  /** Port that the node itself listens on. */
  readonly port: number;
  die(): Promise<void>;
  revive(): Promise<void>;
}

export async function startNodeFront(): Promise<NodeFront> {
  const port = await freePort();
  const server = createServer((message, response) => passOn(port, message, response));
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

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
