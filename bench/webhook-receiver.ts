/** Receives webhooks and checks every signature as the SDK has it; a process of its own. Prints its address; the parent asks it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '@agent-network/sdk';
import { quantile } from './measure.ts';
import { monotonicUs } from './monotonic.ts';
import type { Arrivals, ReceiverTask } from './webhook-arrivals.ts';

let secrets: Record<string, string> = {};
let seen = new Set<string>();
let delaysMs: number[] = [];
let [repeated, refused, firstUs, lastUs] = [0, 0, 0, 0];
let done: { expected: number; resolve(): void } | null = null;

function begin(given: Record<string, string>): void {
  secrets = given;
  seen = new Set();
  delaysMs = [];
  [repeated, refused, firstUs, lastUs] = [0, 0, 0, 0];
}

function arrive(path: string, id: string, timestamp: string): void {
  const key = `${path} ${id}`;
  if (seen.has(key)) repeated += 1;
  seen.add(key);
  lastUs = monotonicUs();
  firstUs ||= lastUs;
  delaysMs.push(Date.now() - Date.parse(timestamp));
  if (done && seen.size >= done.expected) done.resolve();
}

const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const path = request.url ?? '';
  try {
    const { id, timestamp } = await verifyWebhook({
      secret: secrets[path] ?? '',
      headers: request.headers,
      body: Buffer.concat(parts),
    });
    response.end();
    arrive(path, id, timestamp);
  } catch {
    refused += 1;
    response.writeHead(400).end();
  }
});

/** Waits until all that is expected has come, and a little longer for what should not come. */
async function report({ expected, timeoutMs }: Extract<ReceiverTask, { kind: 'await' }>): Promise<Arrivals> {
  const { promise, resolve } = Promise.withResolvers<void>();
  done = { expected, resolve };
  const timer = setTimeout(resolve, timeoutMs);
  if (seen.size < expected) await promise;
  clearTimeout(timer);
  await new Promise((later) => setTimeout(later, 200));
  const sorted = delaysMs.toSorted((a, b) => a - b);
  const tookS = (lastUs - firstUs) / 1e6;
  const counts = { arrived: seen.size, repeated, refused };
  return { ...counts, perSecond: seen.size / tookS, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

process.on('message', async (task: ReceiverTask) => {
  if (task.kind === 'begin') begin(task.secrets);
  process.send?.(task.kind === 'await' ? await report(task) : 'begun');
});
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => undefined);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
