import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Respond = (asked: Asked, response: ServerResponse, count: number) => void;

/** One event as a node writes it. */
export const frame = (id: number, type: string, data: object) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

/** Starts the answer of a stream and sends these bytes of it. */
export function beginStream(response: ServerResponse, ...frames: string[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const text of frames) response.write(text);
}

/** A server on loopback with answers written by hand, so that they can be broken off in the middle. */
export async function startStreamNode(respond: Respond) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
    respond(asked.at(-1) as Asked, response, asked.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { baseUrl: `http://127.0.0.1:${port}`, asked, [Symbol.asyncDispose]: stop };
}
