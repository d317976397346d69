import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly headers: Record<string, string>;
  /** The bytes, as text. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

export type Reaction = (response: ServerResponse, received: Received) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** The most calls for one id that were open at the same moment. */
  mostAtOnce(): number;
  react(reaction: Reaction): void;
}

export const answer =
  (status: number, headers: Record<string, string> = {}, body = 'thanks'): Reaction =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Somebody who has webhooks sent to them, over real HTTP. Closed when the test ends. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const openOf = new Map<string, number>();
  let mostAtOnce = 0;
  let reaction = answer(200);
  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const headers = message.headers as Record<string, string>;
    const id = headers['webhook-id'] ?? '';
    openOf.set(id, (openOf.get(id) ?? 0) + 1);
    mostAtOnce = Math.max(mostAtOnce, openOf.get(id) ?? 0);
    response.once('close', () => openOf.set(id, (openOf.get(id) ?? 1) - 1));
    const call = { path: message.url ?? '', id, headers, text, body: JSON.parse(text) };
    received.push(call);
    reaction(response, call);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    mostAtOnce: () => mostAtOnce,
    react(next) {
      reaction = next;
    },
  };
}
