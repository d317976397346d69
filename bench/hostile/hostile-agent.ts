import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sender } from './send.ts';

const ONLINE_MS = 20_000;

export interface HostileAgent {
  readonly id: string;
  stop(): void;
}

/** An agent of the attacker that proves itself and then answers as it likes. */
export async function startHostileAgent(
  sender: Sender,
  { key, perRequest = '0', answer }: { key: string; perRequest?: string; answer(response: ServerResponse): void },
): Promise<HostileAgent> {
  const known = Promise.withResolvers<{ id: string; identityToken: string }>();
  let endpoint = '';
  const server = createServer(async (message, response) => {
    if (message.method === 'GET') return void response.end('{}');
    const text = await readText(message);
    const body = JSON.parse(text);
    if (body.type !== 'verification') return answer(response);
    const { id, identityToken } = await known.promise;
    const proof = createHmac('sha256', identityToken).update(`${body.challenge}\n${id}\n${endpoint}`).digest('hex');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ agent_id: id, response: proof }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
  const made = await sender.send({
    method: 'POST',
    path: '/agents',
    key,
    body: { name: 'Helper', description: 'An agent.', capabilities: ['help'], rates: { perRequest }, endpoint },
  });
  if (made.status !== 200) throw new Error(`the hostile agent was not registered: ${made.status} ${made.text}`);
  const { data } = made.json();
  known.resolve(data);
  const untilMs = performance.now() + ONLINE_MS;
  while ((await sender.send({ path: `/agents/${data.id}`, key })).json().data?.status !== 'online') {
    if (performance.now() > untilMs) throw new Error('the hostile agent did not get online');
    await sleep(200);
  }
  return {
    id: data.id,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readText(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** Nothing that the database could compress away. */
const textOf = (bytes: number): string => randomBytes(bytes).toString('base64').slice(0, bytes);

/** One result of so many bytes. */
export const answersWith =
  (bytes: number) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ result: textOf(bytes) }));
  };

/** A stream of so many chunks of so many bytes, as fast as it is taken. */
export const streams =
  (chunks: number, bytes: number) =>
  async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // The node hangs up when nobody listens any more.
    await pipeline(Readable.from(pieces(chunks, bytes)), response).catch(() => undefined);
  };

function* pieces(chunks: number, bytes: number): Generator<string> {
  const piece = `event: chunk\ndata: ${JSON.stringify(textOf(bytes))}\n\n`;
  for (let nth = 0; nth < chunks; nth++) yield piece;
  yield 'event: result\ndata: {"result":"end"}\n\n';
}
