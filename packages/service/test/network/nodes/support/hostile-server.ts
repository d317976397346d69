import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (message: IncomingMessage, response: ServerResponse) => void;

/** Serves whatever a test puts at a path. */
export interface HostileServer {
  readonly origin: string;
  readonly answers: Map<string, Answer>;
  /** How often each path was asked for. */
  readonly asked: Map<string, number>;
  stop(): Promise<void>;
}

export const json =
  (body: unknown, status = 200): Answer =>
  (_message, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

export async function startHostileServer(): Promise<HostileServer> {
  const answers = new Map<string, Answer>();
  const asked = new Map<string, number>();
  const server = createServer((message, response) => {
    const path = new URL(message.url ?? '/', 'http://x').pathname;
    asked.set(path, (asked.get(path) ?? 0) + 1);
    (answers.get(path) ?? json({}, 404))(message, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    asked,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
