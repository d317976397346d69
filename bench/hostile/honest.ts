import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../measure.ts';

/** Calls of the honest account a second, and as many reads. */
export const HONEST_PER_SECOND = 8;
/** A call that takes longer failed. */
const TIMEOUT_MS = 20_000;

export interface HonestAccount {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly agentId: string;
}

export interface Figures {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface HonestFigures {
  readonly calls: Figures;
  readonly reads: Figures;
  readonly samples: number;
  readonly failures: readonly string[];
}

/** An account that pays from its treasury and minds its own business. */
export interface Honest {
  /** Works at its pace until the signal; times count from when a call was due, so that a stall counts for all that waited. */
  work(until: AbortSignal): Promise<HonestFigures>;
  close(): void;
}

export function createHonest({ baseUrl, apiKey, agentId }: HonestAccount): Honest {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(baseUrl);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = (method: string, path: string, body?: string, more = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        { agent, hostname, port, method, path, timeout: TIMEOUT_MS, headers: { ...headers, ...more } },
        (incoming) => {
          let text = '';
          incoming.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          incoming.on('error', reject);
          incoming.on('end', () =>
            incoming.statusCode === 200 ? resolve(text) : reject(new Error(`${incoming.statusCode} ${text}`)),
          );
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${path} in ${TIMEOUT_MS} ms`)));
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  const call = async () => {
    const body = JSON.stringify({ task: 'say', input: { text: 'honest' } });
    const text = await send('POST', `/invoke/${agentId}`, body, { 'x-sync': 'true', 'x-payment-method': 'treasury' });
    if (!text.includes('"completed"')) throw new Error(`a call did not end: ${text.slice(0, 300)}`);
  };
  const paths = [`/agents/${agentId}`, '/agents?capability=echo', '/payments/balance', '/agents?limit=20'];
  const read = (nth: number) => send('GET', paths[nth % paths.length] ?? '/');
  return {
    async work(until) {
      const failures: string[] = [];
      const [calls, reads] = await Promise.all([
        atPace(until, failures, call),
        atPace(until, failures, (nth) => read(nth)),
      ]);
      return { calls: figuresOf(calls), reads: figuresOf(reads), samples: calls.length + reads.length, failures };
    },
    close: () => agent.destroy(),
  };
}

async function atPace(
  until: AbortSignal,
  failures: string[],
  act: (nth: number) => Promise<unknown>,
): Promise<number[]> {
  const startMs = performance.now();
  const timesMs: number[] = [];
  const running: Promise<unknown>[] = [];
  for (let nth = 0; !until.aborted; nth++) {
    const dueMs = startMs + (nth * 1000) / HONEST_PER_SECOND;
    await sleep(Math.max(0, dueMs - performance.now()));
    const one = act(nth).catch((error: Error) => failures.push(error.message.slice(0, 300)));
    running.push(one.then(() => timesMs.push(performance.now() - dueMs)));
  }
  await Promise.all(running);
  return timesMs;
}

function figuresOf(timesMs: number[]): Figures {
  const sorted = timesMs.toSorted((a, b) => a - b);
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}
