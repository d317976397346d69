import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Resolves once the answer was sent, or its connection was closed before. */
  readonly ended: Promise<unknown>;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const success = (data: unknown): Reply => ({ status: 200, body: { status: 'success', data } });

export const failure = (
  status: number,
  code: string,
  extra: object = {},
  headers: Record<string, string> = {},
): Reply => ({
  status,
  body: { status: 'error', error: { code, message: `it is ${code}`, requestId: 'req-1', ...extra } },
  headers,
});

type Answer = Reply | 'hang up';

/** A server on loopback that gives the given answers and records requests; `'hang up'` cuts the connection. */
export async function startFakeNode(answer: (seen: Seen, count: number) => Answer | Promise<Answer>) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const ended = once(response, 'close');
    let body = '';
    for await (const chunk of request) body += chunk;
    const entry = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body, ended };
    seen.push(entry);
    const reply = await answer(entry, seen.length);
    if (reply === 'hang up') return void request.socket.destroy();
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { baseUrl: `http://127.0.0.1:${port}`, seen, [Symbol.asyncDispose]: stop };
}
