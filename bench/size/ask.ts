import { Agent, request as send } from 'node:http';
import { quantile } from '../measure.ts';
import type { SizeQuestion } from './questions.ts';
import type { SizedName } from './size-server.ts';

/** A node that is asked, with its own requests. */
export interface Asked {
  readonly name: SizedName;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly questions: readonly SizeQuestion[];
}

export interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly calls: number;
}

const agent = new Agent({ keepAlive: true });
const MIN_CALLS = 3;
const WARM_UP_CALLS = 3;

/** Asks each question of each node in turn, round after round, for so long; one call at a time. */
export async function askAll(
  nodes: readonly Asked[],
  { rounds, seconds }: { rounds: number; seconds: number },
  tell: (name: string) => void,
) {
  const times = new Map<string, Map<SizedName, Times>>();
  for (const [index, { name }] of (nodes[0]?.questions ?? []).entries()) {
    tell(name);
    const latencies = new Map<SizedName, number[]>(nodes.map((node) => [node.name, []]));
    for (let round = 0; round < rounds; round++)
      for (const node of nodes) {
        const question = node.questions[index];
        if (!question) continue;
        for (let call = 0; call < WARM_UP_CALLS; call++) await ask(node, question);
        latencies.get(node.name)?.push(...(await askFor(node, question, seconds * 1000)));
      }
    times.set(name, new Map([...latencies].map(([node, each]) => [node, timesOf(each)])));
  }
  return times;
}

/** Milliseconds of each call, made one after the other until the time is up. */
export async function askFor(node: Asked, question: SizeQuestion, forMs: number): Promise<number[]> {
  const latencies: number[] = [];
  const endsAtMs = performance.now() + forMs;
  while (performance.now() < endsAtMs || latencies.length < MIN_CALLS) latencies.push(await ask(node, question));
  return latencies;
}

export function timesOf(latencies: readonly number[]): Times {
  const sorted = latencies.toSorted((a, b) => a - b);
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99), calls: sorted.length };
}

async function ask({ baseUrl, apiKey }: Asked, question: SizeQuestion): Promise<number> {
  const { method, path, headers = {}, body } = question.next();
  const startMs = performance.now();
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const all = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers };
    const outgoing = send(baseUrl + path, { method, agent, headers: all }, (response) => {
      let received = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        received += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: received })).on('error', reject);
    });
    outgoing.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
  const tookMs = performance.now() - startMs;
  if (status !== question.status) throw new Error(`${question.name}: ${status} ${text.slice(0, 300)}`);
  return tookMs;
}
