import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MAX_PAGE_BYTES } from '../../../src/events/outbox/read-events.ts';
import { createAnswerRoom, MAX_OF_ADDRESS_BYTES } from '../../../src/http/answer/answer-room.ts';
import { createAnswerWatch, STALLED_MS, WHOLE_MS } from '../../../src/http/answer/answer-watch.ts';
import { until } from '../../../src/lib/until.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { answerWith, startTestAgent } from '../../support/test-agent.ts';

const MIB = 1024 * 1024;
const RESULT = 'x'.repeat(900 * 1024);
const CALLS = 20;
const READERS = 40;

async function connectTo(h: Harness): Promise<Socket> {
  const { hostname, port } = new URL(h.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** An account whose events are about records of 900 KB each. */
async function startLoud(env: Record<string, string> = {}) {
  const h = await startHarness({ env });
  const agent = await startTestAgent(h, { perRequest: '0', behaviour: answerWith(200, { result: RESULT }) });
  onTestFinished(async () => {
    await agent.die();
    await h.stop();
  });
  const { key } = await h.newAccount();
  const call = { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
  for (let nth = 0; nth < CALLS; nth++) await h.request('POST', `/invoke/${agent.id}`, call);
  return { h, key };
}

it('pages of events end by bytes as well as by number, and together they hold every event once, in order', async () => {
  const { h, key } = await startLoud();
  const seen: number[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const { body } = await h.request('GET', `/events?limit=100&after=${after}`, { key });
    const { events, next } = body.data;
    expect(JSON.stringify(events.slice(0, -1)).length).toBeLessThan(MAX_PAGE_BYTES);
    seen.push(...events.map(({ sequence }: { sequence: number }) => sequence));
    expect(next).toBe(seen.at(-1));
    ({ hasMore } = body.data);
    after = next;
  }
  const all = await h.ctx.db.query<{ sequence: bigint }>('all', 'select sequence from event order by sequence');
  expect(seen.filter((sequence) => all.some((each) => Number(each.sequence) === sequence))).toEqual(seen);
  expect(seen.length).toBeGreaterThanOrEqual(CALLS);
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
});

it('forty clients that ask for the largest page and read nothing cost less than 150 MiB', async () => {
  const { h, key } = await startLoud();
  const memory = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  global.gc?.();
  const before = memory();
  const asked = vi.spyOn(h.ctx.metrics.requestDuration, 'observe');
  for (let nth = 0; nth < READERS; nth++) {
    const socket = await connectTo(h);
    socket.pause();
    socket.write(`GET /events?limit=100 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  }
  const isAnswered = async () => (asked.mock.calls.length >= READERS ? true : null);
  expect(await until(isAnswered, { timeoutMs: 20_000, firstMs: 5, mostMs: 50 })).toBe(true);
  global.gc?.();
  expect(memory() - before).toBeLessThan(150 * MIB);
});

it('large answers that one address does not take are refused beyond 32 MiB; a single one of any size is not, nor are others', () => {
  const room = createAnswerRoom();
  const taken = Array.from({ length: MAX_OF_ADDRESS_BYTES / MIB }, () => room.take('192.0.2.1', MIB));
  expect(() => room.take('192.0.2.1', MIB)).toThrow('are unread');
  room.take('192.0.2.1', 1000)();
  room.take('192.0.2.2', 2 * MAX_OF_ADDRESS_BYTES)();
  taken[0]?.();
  room.take('192.0.2.1', MIB)();
});

it('an answer that is not taken is broken off: after a pause, or when it takes too long as a whole; a stream goes on', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const watch = createAnswerWatch();
  onTestFinished(() => watch.stop());
  const answer = (type: string) => {
    const socket = { setTimeout: vi.fn(), destroy: vi.fn() };
    const outgoing = { destroyed: false, writableFinished: false, getHeader: () => type };
    const asked = watch.asked(socket as never, outgoing as never);
    asked.answered();
    return { socket, asked };
  };
  const [stuck, taken, stream] = [answer('application/json'), answer('application/json'), answer('text/event-stream')];
  expect(stuck.socket.setTimeout.mock.calls).toEqual([[0], [STALLED_MS]]);
  taken.asked.closed();
  vi.advanceTimersByTime(WHOLE_MS + 10_000);
  expect([stuck, taken, stream].map(({ socket }) => socket.destroy.mock.calls.length)).toEqual([1, 0, 0]);
});

it('one address has so many connections at a time, and one more when one has ended', async () => {
  const h = await startHarness({ env: { MAX_CONNECTIONS_PER_ADDRESS: '8' } });
  onTestFinished(() => h.stop());
  const sockets = [];
  const ended = new Set<Socket>();
  for (let nth = 0; nth < 20; nth++) {
    const socket = await connectTo(h);
    socket.once('close', () => ended.add(socket));
    sockets.push(socket);
  }
  const areEnded = async () => (ended.size >= 12 ? true : null);
  expect(await until(areEnded, { timeoutMs: 5000, firstMs: 5, mostMs: 50 })).toBe(true);
  for (const socket of sockets) socket.destroy();
  const again = async () => (await fetch(`${h.baseUrl}/livez`).catch(() => null))?.status ?? null;
  expect(await until(again, { timeoutMs: 5000, firstMs: 5, mostMs: 50 })).toBe(200);
});
