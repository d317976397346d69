import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { drainProcesses, isDrained, undoDrain } from '../../src/operator/drain-processes.ts';
import { listProcesses } from '../../src/operator/operator-store.ts';
import { joinNode, startJoinableHarness } from '../calls/stream/support/second-node.ts';
import type { Harness } from '../support/harness.ts';
import { echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../support/treasury.ts';

let h: Harness;
let agent: TestAgent;
let release: () => void = () => {};

beforeAll(async () => {
  h = await startJoinableHarness({ MAX_RUNNING: '2', MAX_RUNNING_PER_ACCOUNT: '1', MAX_RUNNING_PER_AGENT: '2' });
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  release();
  await agent?.die();
  await h?.stop();
});

const me = () => ({ name: h.ctx.processId() });
const quiet = () => undefined;
const statusOf = async (baseUrl: string) => (await fetch(`${baseUrl}/readyz`)).status;
const call = (host: Pick<Harness, 'request'>, key: string) =>
  host.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'long' } });

function holdAnswers(): void {
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  agent.behave(async (request, response) => {
    await held;
    await echo(request, response);
  });
}

it('a draining process takes no calls or queued requests, finishes running ones, and resumes when the drain is withdrawn', async () => {
  const other = await joinNode(h, { MAX_RUNNING: '2', MAX_RUNNING_PER_ACCOUNT: '1', MAX_RUNNING_PER_AGENT: '2' });
  holdAnswers();
  const { key } = await newClient(h, '1.00');
  const { key: second } = await newClient(h, '1.00');
  const { key: operator } = await h.newAccount({ scopes: ['operator'] });
  const running = (await call(h, key)).body.data.requestId as string;
  await expect.poll(() => agent.calls.length).toBe(1);

  const seen: string[] = [];
  let isOver = false;
  const draining = drainProcesses(h.ctx, {
    which: me(),
    waitMs: 60_000,
    tell: (standing) => void seen.push(...standing.map(({ state, open }) => `${state} ${open?.invocations ?? '?'}`)),
  }).finally(() => {
    isOver = true;
  });
  await expect.poll(() => seen).toContain('draining 1');
  const ready = await fetch(`${h.baseUrl}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'draining' }]);
  const isDrainingOf = async () => {
    const { processes } = (await other.request('GET', '/operator/status', { key: operator })).body
      .data as OperatorStatus;
    return new Map(processes.map(({ processId, drainingSince }) => [processId, drainingSince !== null]));
  };
  expect(await isDrainingOf()).toEqual(
    new Map([
      [h.ctx.processId(), true],
      [other.ctx.processId(), false],
    ]),
  );
  const before = await balanceOf(h, second);
  const refused = await call(h, second);
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    503,
    'UNAVAILABLE',
    { outcome: 'nothing' },
  ]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await balanceOf(h, second)).toEqual(before);
  expect((await h.request('POST', '/mcp', { key, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status).toBe(503);

  // The other process takes both; the second one waits for its account's place there, and this process leaves it alone.
  await call(other, second);
  const queued = (await call(other, second)).body.data.requestId as string;
  await h.ctx.backlog.pump();
  expect(h.ctx.runner.trackedIds()).toEqual([running]);
  expect(isOver).toBe(false);

  release();
  const ended = await draining;
  expect(ended.map(({ state }) => state)).toEqual(['drained']);
  expect((await untilEnded(h, key, running)).status).toBe('completed');
  expect((await untilEnded(h, second, queued)).status).toBe('completed');

  expect(await undoDrain(h.ctx, me())).toHaveLength(1);
  await expect.poll(() => statusOf(h.baseUrl)).toBe(200);
  await expect.poll(async () => (await isDrainingOf()).get(h.ctx.processId())).toBe(false);
  expect((await call(h, key)).status).toBeLessThan(300);
  await other.stop();
});

it('a request without its body does not delay a drain, and is refused when the body comes', async () => {
  const other = await joinNode(h);
  const { host, hostname, port } = new URL(other.baseUrl);
  const { key } = await newClient(h, '0.05');
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify({ task: 'slow' });
  const headers = [
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Connection: close',
  ];
  const identified = vi.spyOn(other.ctx.authenticator, 'authenticate');
  socket.write(
    `POST /invoke/${agent.id} HTTP/1.1\r\n${headers.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n{`,
  );
  await expect.poll(() => identified.mock.calls.length).toBe(1);
  const draining = { which: { name: other.ctx.processId() }, waitMs: 20_000, tell: quiet };
  expect((await drainProcesses(h.ctx, draining)).map(({ state }) => state)).toEqual(['drained']);
  await expect.poll(() => other.ctx.drain.isRefusing()).toBe(true);
  socket.write(body.slice(1));
  const answer = await text(socket);
  expect(answer.slice(0, 12)).toBe('HTTP/1.1 503');
  expect(answer).toContain('"outcome":"nothing"');
  expect(await balanceOf(h, key)).toEqual({ available: '0.05', held: '0.00' });
  await other.stop();
});

it('a drain returns the state of each process after its wait, and stays in force until the process ends', async () => {
  const other = await joinNode(h);
  const place = (await listProcesses(h.ctx.db)).find(({ processId }) => processId === other.ctx.processId())?.place;
  const first = await drainProcesses(h.ctx, { which: { name: String(place) }, waitMs: 0, tell: quiet });
  expect(first.map(({ state }) => state)).toEqual(['asked']);
  expect(first.every(isDrained)).toBe(false);
  const [row] = (await listProcesses(h.ctx.db)).filter(({ drainAskedAt }) => drainAskedAt !== null);
  expect(row?.processId).toBe(other.ctx.processId());
  await other.stop();
  expect((await listProcesses(h.ctx.db)).map(({ drainAskedAt }) => drainAskedAt)).toEqual([null]);
});

it('a name that several processes have, or a version that cannot drain, is refused, and nothing is asked', async () => {
  const old = '00000000-0000-4000-8000-000000000001';
  const label = (await listProcesses(h.ctx.db))[0]?.label;
  await h.ctx.db.query('test-old', 'insert into process (id, label) values ($1, $2)', [old, label]);
  const drain = (name: string) => drainProcesses(h.ctx, { which: { name }, waitMs: 0, tell: quiet });
  await expect(drain(String(label))).rejects.toThrow(`more than one process is called ${label}`);
  await expect(drain('nobody')).rejects.toThrow('no process is called nobody');
  await expect(drain(old)).rejects.toThrow('runs a version that cannot be drained');
  expect((await listProcesses(h.ctx.db)).filter(({ drainAskedAt }) => drainAskedAt)).toEqual([]);
});
