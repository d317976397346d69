import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Decides the answer's status for a run, the nth of its purchase; it may take its time. */
export type Behaviour = (run: { readonly purchase: string; readonly nth: number }) => number | Promise<number>;

/** Does the work that both contenders sell, and counts how often. */
export interface Worker {
  /** For a plain handler: every call is a run. */
  readonly workUrl: string;
  /** For an agent of our network: calls under one Idempotency-Key are one run, as its contract says. */
  readonly agentUrl: string;
  becomeAgent(agent: { readonly id: string; readonly identityToken: string }): void;
  behave(behaviour: Behaviour): void;
  runsOf(purchase: string): number;
  stop(): Promise<void>;
}

interface Done {
  readonly status: number;
  readonly text: string;
}

/** Text that the answer to a buyer must contain for the purchase to count as delivered. */
export const resultOf = (purchase: string): string => `"done":"${purchase}"`;

export const doesIt: Behaviour = () => 200;

export async function startWorker(): Promise<Worker> {
  const runs = new Map<string, Map<string, Promise<Done>>>();
  const registered = Promise.withResolvers<{ id: string; identityToken: string }>();
  let behaviour = doesIt;

  const carryOut = async (purchase: string, nth: number): Promise<Done> => {
    const status = await behaviour({ purchase, nth });
    return { status, text: status === 200 ? `{"result":{${resultOf(purchase)}}}` : '{"error":"it went wrong"}' };
  };
  const runUnder = (key: string, purchase: string): Promise<Done> => {
    const known = runs.get(purchase) ?? new Map<string, Promise<Done>>();
    runs.set(purchase, known);
    const done = known.get(key) ?? carryOut(purchase, known.size + 1);
    known.set(key, done);
    return done;
  };

  const server = createServer(async (message, response) => {
    if (message.method === 'GET') return void send(response, { status: 200, text: '{}' });
    const text = await readText(message);
    if (text === '') return void send(response, { status: 400, text: '{"error":"a call without a body"}' });
    const body = JSON.parse(text);
    if (body.type === 'verification') return void send(response, prove(await registered.promise, agentUrl, body));
    const key = message.url === '/agent' ? String(message.headers['idempotency-key']) : randomUUID();
    send(response, await runUnder(key, body.input.purchase));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agentUrl = `${address}/agent`;
  return {
    workUrl: `${address}/work`,
    agentUrl,
    becomeAgent: registered.resolve,
    behave(next) {
      behaviour = next;
    },
    runsOf: (purchase) => runs.get(purchase)?.size ?? 0,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function prove(
  { id, identityToken }: { id: string; identityToken: string },
  endpoint: string,
  { challenge }: { challenge: string },
): Done {
  const response = createHmac('sha256', identityToken).update(`${challenge}\n${id}\n${endpoint}`).digest('hex');
  return { status: 200, text: JSON.stringify({ agent_id: id, response }) };
}

const send = (response: ServerResponse, { status, text }: Done) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);

async function readText(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
