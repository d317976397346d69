import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { expect } from 'vitest';
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from '../../src/lib/net/guarded-fetch.ts';
import { GuardedFetchError, type GuardedFetchErrorKind } from '../../src/lib/net/guarded-fetch-error.ts';

export const MIB = 1024 * 1024;

/** An HTTP server on loopback with a behaviour set by the test, and guarded fetches to call it with. Disposing closes everything. */
export type LoopbackEndpoint = AsyncDisposable & {
  server: Server;
  port: number;
  requestCount: number;
  handle: RequestListener;
  /** A GET of the server, or of another URL. */
  get(url?: string): { url: string; method: string; timeoutMs: number; maxBytes: number };
  open(options?: Partial<GuardedFetchOptions>): GuardedFetch;
  listen(server: Server | TcpServer): Promise<number>;
  cleanups: (() => unknown)[];
};

export async function startLoopbackEndpoint(): Promise<LoopbackEndpoint> {
  const cleanups: (() => unknown)[] = [];

  async function listen(listening: Server | TcpServer): Promise<number> {
    const sockets = new Set<Socket>();
    listening.on('connection', (socket: Socket) => sockets.add(socket));
    listening.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    cleanups.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => listening.close(resolve));
    });
    return (listening.address() as AddressInfo).port;
  }

  const server = createServer((request, response) => {
    endpoint.requestCount++;
    endpoint.handle(request, response);
  });
  const port = await listen(server);
  const endpoint: LoopbackEndpoint = {
    server,
    port,
    requestCount: 0,
    handle: (_request, response) => response.end('ok'),
    get: (url = `http://127.0.0.1:${port}/`) => ({ url, method: 'GET', timeoutMs: 5_000, maxBytes: MIB }),
    open(options = {}) {
      const guarded = createGuardedFetch({ allowPrivate: true, userAgent: 'test/1', ...options });
      cleanups.push(() => guarded.close());
      return guarded;
    },
    listen,
    cleanups,
    async [Symbol.asyncDispose]() {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    },
  };
  return endpoint;
}

/** A server that answers each request with so many bytes, each in a chunk of its own. */
export const inSingleBytes = (count: number): TcpServer =>
  createTcpServer((socket) => {
    const answer = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`;
    socket.on('error', () => {}).once('data', () => socket.end(answer));
  });

/** Expects a failure of this kind, with a message that reveals no address. */
export async function expectKind(work: Promise<unknown>, kind: GuardedFetchErrorKind): Promise<GuardedFetchError> {
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(GuardedFetchError);
  expect({ kind: error.kind, cause: error.cause }).toMatchObject({ kind });
  expect(error.message).not.toMatch(/\d+\.\d+|::|127|ECONN|localhost/);
  return error;
}
