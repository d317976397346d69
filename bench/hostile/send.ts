import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from './site.ts';

const TIMEOUT_MS = 60_000;

export interface HostileRequest {
  readonly method?: string;
  readonly path: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HostileAnswer {
  /** 0: the connection was broken off. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the node, as it is
  json(): any;
}

/** Sends requests from the attacker's address and counts what comes of them. */
export interface Sender {
  readonly answers: Readonly<Record<string, number>>;
  readonly attempts: () => number;
  count(answer: string): void;
  send(asked: HostileRequest): Promise<HostileAnswer>;
  /** A separate connection for the attacker to use freely. */
  dial(): Socket;
  close(): void;
}

export function createSender({ baseUrl, address: localAddress }: Pick<Site, 'baseUrl' | 'address'>): Sender {
  const { hostname, port, origin } = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: 64, localAddress });
  const answers: Record<string, number> = {};
  let attempts = 0;
  const count = (answer: string) => {
    attempts += 1;
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  const ask = ({ method = 'GET', path, key, body, headers = {} }: HostileRequest): Promise<HostileAnswer> => {
    const { promise, resolve } = Promise.withResolvers<HostileAnswer>();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const outgoing = request({
      ...{ agent, hostname, port, method, path, timeout: TIMEOUT_MS },
      headers: {
        origin,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headers,
      },
    });
    const broken = () => resolve({ status: 0, headers: {}, text: '', json: () => ({}) });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', broken);
    outgoing.on('response', (incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('error', broken);
      incoming.on('end', () => {
        const whole = Buffer.concat(parts).toString('utf8');
        const { statusCode: status = 0 } = incoming;
        resolve({ status, headers: incoming.headers, text: whole, json: () => JSON.parse(whole) });
      });
    });
    outgoing.end(text);
    return promise;
  };
  return {
    answers,
    attempts: () => attempts,
    count,
    async send(asked) {
      const answer = await ask(asked);
      count(answer.status === 0 ? 'broken' : String(answer.status));
      return answer;
    },
    dial() {
      const socket = connect({ host: hostname, port: Number(port), localAddress });
      // The 'close' event tells the outcome.
      socket.on('error', () => undefined);
      return socket;
    },
    close: () => agent.destroy(),
  };
}

/** Acts `perSecond` times a second for this many seconds, whether or not earlier acts have ended, but at most `atOnce` at a time. */
export async function paced(
  { perSecond, seconds, atOnce = 256 }: { perSecond: number; seconds: number; atOnce?: number },
  act: (nth: number) => Promise<unknown>,
): Promise<void> {
  const startMs = performance.now();
  const running = new Set<Promise<unknown>>();
  for (let nth = 0; ; nth++) {
    const dueMs = startMs + (nth * 1000) / perSecond;
    if (dueMs > startMs + seconds * 1000) break;
    await sleep(Math.max(0, dueMs - performance.now()));
    while (running.size >= atOnce) await Promise.race(running);
    if (performance.now() > startMs + seconds * 1000) break;
    const one: Promise<unknown> = act(nth).finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
}
