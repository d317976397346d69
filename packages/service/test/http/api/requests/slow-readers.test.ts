import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import type { KnownCaller } from '../../../../src/accounts/caller.ts';
import { readInvocationDetail } from '../../../../src/calls/read/timeline.ts';
import { findContentsWithin, findRecordsWithin } from '../../../../src/calls/record-store.ts';
import { listEvents, MAX_PAGE_BYTES } from '../../../../src/events/outbox/read-events.ts';
import { createAnswerRoom, MAX_OF_READER_BYTES } from '../../../../src/http/answer/answer-room.ts';
import { createAnswerWatch, STALLED_MS, WHOLE_MS } from '../../../../src/http/answer/answer-watch.ts';
import type { AppError } from '../../../../src/lib/app-error.ts';
import { encodeJson } from '../../../../src/lib/json/prepared-json.ts';
import { collectGarbage } from '../../../support/collect-garbage.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { answerWith, startTestAgent } from '../../../support/test-agent.ts';
import { until } from '../../../support/until.ts';

const MIB = 1024 * 1024;
const RESULT = 'x'.repeat(900 * 1024);
const CALLS = 20;
const READERS = 40;

async function connectTo({ baseUrl }: Harness): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

let h: Harness;
let key: string;
let accountId: string;

/** An account whose events are about records of 900 KB each. */
beforeAll(async () => {
  h = await startHarness();
  const agent = await startTestAgent(h, { perRequest: '0', behaviour: answerWith(200, { result: RESULT }) });
  ({ key, accountId } = await h.newAccount());
  const call = { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
  for (let nth = 0; nth < CALLS; nth++) await h.request('POST', `/invoke/${agent.id}`, call);
  await agent.die();
});
afterAll(() => h.stop());

it('pages of events end by bytes as well as by number, and together they hold every event once, in order', async () => {
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

it('a page counts what callers wrote as well: it ends by tasks and metadata too', async () => {
  const agent = await startTestAgent(h, { perRequest: '0', behaviour: answerWith(200, { result: 'r' }) });
  const { key: writer } = await h.newAccount();
  const words = 'w'.repeat(90_000);
  const call = { key: writer, body: { task: words, metadata: { words } }, headers: { 'x-sync': 'true' } };
  const answers = [];
  for (let nth = 0; nth < 4; nth++) answers.push(await h.request('POST', `/invoke/${agent.id}`, call));
  await agent.die();
  const ids = answers.map(({ body }) => body.data.requestId);
  expect((await findRecordsWithin(h.ctx.db, ids, MAX_PAGE_BYTES)).length).toBe(2);
  expect((await findContentsWithin(h.ctx.db, ids, MAX_PAGE_BYTES)).length).toBe(2);
});

it('forty clients that ask for the largest page and read nothing cost less than 150 MiB', async () => {
  const inUse = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  };
  const before = inUse();
  const asked = vi.spyOn(h.ctx.metrics.requestDuration, 'observe');
  for (let nth = 0; nth < READERS; nth++) {
    const socket = await connectTo(h);
    socket.pause();
    socket.write(`GET /events?limit=100 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  }
  await until(async () => asked.mock.calls.length >= READERS);
  await expect.poll(() => inUse() - before).toBeLessThan(150 * MIB);
});

it('a large result goes from the database to the answer as text: it is neither parsed nor encoded, nor read if the page is full', async () => {
  const parse = vi.spyOn(JSON, 'parse');
  const stringify = vi.spyOn(JSON, 'stringify');
  onTestFinished(() => void vi.restoreAllMocks());
  const query = vi.spyOn(h.ctx.db, 'query');
  const page = encodeJson(await listEvents(h.ctx, { accountId }, { limit: 100 }));
  const read = await Promise.all(query.mock.results.map(({ value }) => value));
  const [request] = await h.ctx.db.query<{ id: string }>('one', 'select id from invocation limit 1');
  const caller = { kind: 'account', accountId } as KnownCaller;
  const detail = encodeJson(await readInvocationDetail(h.ctx, caller, request?.id ?? ''));
  const parsed = parse.mock.calls.map(([text]) => text.length);
  const encoded = stringify.mock.results.map(({ value }) => value?.length ?? 0);
  expect([page.length, detail.length].map((bytes) => bytes > RESULT.length)).toEqual([true, true]);
  expect(Math.max(0, ...parsed, ...encoded)).toBeLessThan(10_000);
  const results = read.flat().filter(({ result }) => result !== undefined && result !== null);
  expect(results.length).toBe(1);
});

const clock = fixedClock(new Date());

it('large answers that an address or an account does not take are refused beyond 32 MiB; a single one of any size is not, nor are others', () => {
  const room = createAnswerRoom({ clock, answerBytesPerMinute: 1024 * MIB });
  const taken = Array.from({ length: MAX_OF_READER_BYTES / MIB }, () => room.take(['192.0.2.1', 'acc_1'], 'a', MIB));
  expect(() => room.take(['192.0.2.1', 'acc_2'], 'a', MIB)).toThrow('are unread');
  expect(() => room.take(['192.0.2.2', 'acc_1'], 'a', MIB)).toThrow('are unread');
  room.take(['192.0.2.1', 'acc_1'], 'a', 1000)();
  room.take(['192.0.2.2', 'acc_2'], 'a', 2 * MAX_OF_READER_BYTES)();
  taken[0]?.();
  room.take(['192.0.2.1', 'acc_1'], 'a', MIB)();
});

it('an address or an account that used up its bytes of large answers is refused before there is work, read or not, until some have come back; other calls go on', async () => {
  const small = await startHarness({ clock, env: { ANSWER_BYTES_PER_MINUTE: '16000000' } });
  const agent = await startTestAgent(small, { perRequest: '0', behaviour: answerWith(200, { result: RESULT }) });
  onTestFinished(async () => {
    await agent.die();
    await small.stop();
  });
  const caller = await small.newAccount();
  const sync = { key: caller.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
  const { requestId } = (await small.request('POST', `/invoke/${agent.id}`, sync)).body.data;
  const read = () => small.request('GET', `/invoke/${requestId}`, { key: caller.key });
  for (let nth = 0; nth < 3; nth++) expect((await read()).body.data.result).toBe(RESULT);
  const query = vi.spyOn(small.ctx.db, 'query');
  onTestFinished(() => void vi.restoreAllMocks());
  const refused = await read();
  expect(query.mock.calls.map(([name]) => name)).not.toContain('find-record');
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('3');
  const details = { limit: 16_000_000, type: 'answerBytesPerMinute', retryAfterS: 3 };
  expect(refused.body.error).toMatchObject({ code: 'RATE_LIMITED', details });
  expect((await small.request('GET', '/account', { key: caller.key })).status).toBe(200);
  expect((await small.request('POST', `/invoke/${agent.id}`, sync)).body.data.result).toBe(RESULT);
  clock.advance(3000);
  expect((await read()).status).toBe(200);
  expect((await read()).status).toBe(429);
});

it('bytes come back evenly, at most an eighth of a minute’s at a time, and what was used too much is paid back first', () => {
  let nowMs = 0;
  const room = createAnswerRoom({ clock: { now: () => new Date(nowMs) }, answerBytesPerMinute: 60_000 });
  const use = (bytes: number) => room.streamed(['a'], 'streamInvocation', bytes);
  const refusedFor = (reader = 'a') => {
    try {
      room.admit([reader], 'streamInvocation');
      return null;
    } catch (error) {
      return (error as AppError<'RATE_LIMITED'>).extra.details.retryAfterS;
    }
  };
  use(7499);
  expect(refusedFor()).toBe(null);
  use(3001);
  expect(refusedFor()).toBe(4);
  nowMs = 3000;
  expect(refusedFor()).toBe(1);
  nowMs = 3001;
  expect(refusedFor()).toBe(null);
  expect(refusedFor('b')).toBe(null);
  nowMs = 3_600_000;
  use(7499);
  expect(refusedFor()).toBe(null);
  use(1_000_000);
  expect(refusedFor()).toBe(61);
});

it('the bytes of a stream that is read count as well: the next one is refused, the one at work goes on', async () => {
  const room = createAnswerRoom({ clock, answerBytesPerMinute: 8 * MIB });
  room.admit(['192.0.2.1', 'acc_1'], 'streamInvocation');
  for (let nth = 0; nth < 40; nth++) room.streamed(['192.0.2.1', 'acc_1'], 'streamInvocation', 60_000);
  expect(() => room.admit(['192.0.2.1', 'acc_2'], 'streamInvocation')).toThrow('per minute is used up');
  expect(() => room.admit(['192.0.2.2', 'acc_1'], 'streamInvocation')).toThrow('per minute is used up');
  room.admit(['192.0.2.2', 'acc_2'], 'streamInvocation');
  room.admit(['192.0.2.1', 'acc_1'], 'getAccount');
});

it('an answer that is not taken is broken off: after a pause, or when it takes too long as a whole; a stream goes on until it has ended', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const watch = createAnswerWatch();
  onTestFinished(() => watch.stop());
  const answer = (type: string) => {
    const socket = { setTimeout: vi.fn(), destroy: vi.fn() };
    const outgoing = new ServerResponse(new IncomingMessage(new Socket()));
    const asked = watch.asked(socket as never, outgoing);
    asked.answered();
    outgoing.writeHead(200, { 'content-type': type });
    return { socket, asked, outgoing };
  };
  const [stuck, taken] = [answer('application/json'), answer('application/json')];
  const [stream, last] = [answer('text/event-stream'), answer('text/event-stream')];
  const all = [stuck, taken, stream, last];
  const broken = () => all.map(({ socket }) => socket.destroy.mock.calls.length);
  expect(stuck.socket.setTimeout.mock.calls).toEqual([[0], [STALLED_MS]]);
  taken.asked.closed();
  last.outgoing.end('x');
  vi.advanceTimersByTime(WHOLE_MS + 10_000);
  expect(broken()).toEqual([1, 0, 0, 0]);
  vi.advanceTimersByTime(WHOLE_MS + 10_000);
  expect(broken()).toEqual([1, 0, 0, 1]);
  stream.outgoing.end('x');
  vi.advanceTimersByTime(2 * WHOLE_MS + 20_000);
  expect(broken()).toEqual([1, 0, 1, 1]);
});

it('one address has so many connections at a time, and one more when one has ended', async () => {
  const narrow = await startHarness({ env: { MAX_CONNECTIONS_PER_ADDRESS: '8' } });
  onTestFinished(() => narrow.stop());
  const sockets = [];
  const ended = new Set<Socket>();
  for (let nth = 0; nth < 20; nth++) {
    const socket = await connectTo(narrow);
    socket.once('close', () => ended.add(socket));
    sockets.push(socket);
  }
  const areEnded = async () => ended.size >= 12;
  await until(areEnded);
  for (const socket of sockets) socket.destroy();
  const again = async () => (await fetch(`${narrow.baseUrl}/livez`).catch(() => null))?.status ?? null;
  expect(await until(again)).toBe(200);
});
