import { once } from 'node:events';
import { createServer, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly response: ServerResponse;
  /** Asks the node; answers its answer, unread. */
  pass(): Promise<IncomingMessage>;
  /** Asks the node and hands its answer on as it comes. */
  passOn(): Promise<void>;
}

/** Handles a request; false: it is passed on. */
export type Rule = (passed: Passed) => Promise<boolean> | boolean;

/** Stands before a node, and does to its answers what networks do, or nodes that are up to something. */
export interface HomeProxy {
  readonly url: string;
  /** Every request that came, in order. */
  readonly seen: Passed[];
  aim(port: number): void;
  /** null: everything is passed on. */
  rule(rule: Rule | null): void;
  stop(): Promise<void>;
}

export async function startHomeProxy(): Promise<HomeProxy> {
  let port = 0;
  let rule: Rule | null = null;
  const seen: Passed[] = [];
  const server = createServer((message, response) => {
    treat(message, response).catch(() => response.destroy());
  });
  async function treat(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const { method = 'GET', url: path = '/', headers } = message;
    const pass = async () => {
      const asked = open({ host: '127.0.0.1', port, method, path, headers });
      response.once('close', () => asked.destroy());
      asked.end(body);
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      return answer;
    };
    const passOn = async () => {
      const answer = await pass();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    };
    const passed: Passed = { method, path, headers, body, response, pass, passOn };
    seen.push(passed);
    if (!(await rule?.(passed))) await passOn();
  }
  // Longer than clients keep an idle connection: one that is sent on as it ends is reset.
  server.keepAliveTimeout = 65_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    aim(next) {
      port = next;
    },
    rule(next) {
      rule = next;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
