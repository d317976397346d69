import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AppError } from '../../../../src/lib/app-error.ts';
import { contradictions } from '../../../support/books.ts';
import { type Harness, send, startHarness } from '../../../support/harness.ts';
import { echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, newClient } from '../../../support/treasury.ts';
import { callTool, modern } from './raw-client.ts';

// Decision 31, lost answers: the identical call of the same caller finds the purchase whose client hung up, once.

const CLIENTS = 20;
let h: Harness;
let slow: TestAgent;
const held: (() => void)[] = [];
beforeAll(async () => {
  h = await startHarness();
  slow = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await slow.die();
  await h.stop();
});

/** A call whose client hangs up when it is told to. */
function callOf(key: string, args: object) {
  const gone = new AbortController();
  const { headers, body } = modern('tools/call', { name: 'invoke_agent', arguments: args });
  const init = { method: 'POST', headers: { ...headers, authorization: `Bearer ${key}` }, body: JSON.stringify(body) };
  const lost = fetch(`${h.baseUrl}/mcp`, { ...init, signal: gone.signal }).then(
    () => expect.fail('it was answered'),
    () => undefined,
  );
  return async () => {
    gone.abort();
    await lost;
  };
}

/** Counts the requests that are found again, and those that nobody waits for any more. */
function watchRunner() {
  const { runner } = h.ctx;
  const [found, left] = [vi.spyOn(runner, 'ending'), vi.spyOn(runner, 'detach')];
  const reached = (count: () => number, wanted: number) => expect.poll(count).toBe(wanted);
  return {
    untilFound: (wanted: number) => reached(() => found.mock.calls.length, wanted),
    untilLeft: (wanted: number) => reached(() => left.mock.calls.length, wanted),
    [Symbol.dispose]() {
      found.mockRestore();
      left.mockRestore();
    },
  };
}

const hold = () => {
  slow.calls.length = 0;
  held.length = 0;
  slow.behave((request, response) => void held.push(() => void echo(request, response)));
};
const untilCalled = (wanted: number) => expect.poll(() => slow.calls.length).toBe(wanted);

it('a client that hangs up and calls again, without a key, twenty times: one purchase', async () => {
  const { key } = await newClient(h, '2');
  const args = { agentId: slow.id, task: 'Again and again.', maxCost: '0.05' };
  hold();
  using watched = watchRunner();
  for (let nth = 1; nth <= CLIENTS; nth++) {
    const hangUp = callOf(key, args);
    if (nth === 1) await untilCalled(1);
    else await watched.untilFound(nth - 1);
    await hangUp();
    await watched.untilLeft(nth);
  }
  for (const release of held) release();
  const { result } = (await callTool(h.baseUrl, key, 'invoke_agent', args)).body;
  expect(result.structuredContent).toMatchObject({ status: 'completed', cost: '0.05' });
  expect(slow.calls).toHaveLength(1);
  expect(await balanceOf(h, key)).toEqual({ available: '1.95', held: '0.00' });
});

it('twenty identical calls at once whose clients hang up, and call again: one purchase for each, found once', async () => {
  const { key } = await newClient(h, '2');
  const args = { agentId: slow.id, task: 'All at once.', maxCost: '0.05' };
  hold();
  using watched = watchRunner();
  const calls = Array.from({ length: CLIENTS }, () => callOf(key, args));
  await untilCalled(CLIENTS);
  for (const hangUp of calls) await hangUp();
  await watched.untilLeft(CLIENTS);
  for (const release of held) release();
  const again = await Promise.all(calls.map(() => callTool(h.baseUrl, key, 'invoke_agent', args)));
  const ids = again.map(({ body }) => body.result.structuredContent.requestId);
  expect(new Set(ids)).toEqual(new Set(slow.calls.map(({ body }) => body.request_id)));
  expect(new Set(ids).size).toBe(CLIENTS);
  expect(slow.calls).toHaveLength(CLIENTS);
  expect((await balanceOf(h, key)).available).toBe('1.00');
});

it('a repetition that is refused after the purchase was found does not lose it: the next one finds it', async () => {
  const { key } = await newClient(h, '2');
  const args = { agentId: slow.id, task: 'Refused once.', maxCost: '0.05' };
  hold();
  using watched = watchRunner();
  const hangUp = callOf(key, args);
  await untilCalled(1);
  await hangUp();
  await watched.untilLeft(1);
  vi.mocked(h.ctx.runner.ending).mockImplementationOnce(() => {
    throw new AppError('UNAVAILABLE', 'Try again.');
  });
  const refused = (await callTool(h.baseUrl, key, 'invoke_agent', args)).body.result;
  expect(refused.structuredContent.error.code).toBe('UNAVAILABLE');
  for (const release of held) release();
  const { result } = (await callTool(h.baseUrl, key, 'invoke_agent', args)).body;
  expect(result.structuredContent).toMatchObject({ status: 'completed', cost: '0.05' });
  expect(slow.calls).toHaveLength(1);
  expect(await balanceOf(h, key)).toEqual({ available: '1.95', held: '0.00' });
});

it('a repetition that overtakes the cancellation of the call before it: one purchase', async () => {
  const { key } = await newClient(h, '2');
  const args = { agentId: slow.id, task: 'Overtaken.', maxCost: '0.05' };
  const post = (message: object) =>
    send(h.baseUrl, 'POST', '/mcp', {
      key,
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
      body: { jsonrpc: '2.0', ...message },
    });
  const call = (id: number) => post({ id, method: 'tools/call', params: { name: 'invoke_agent', arguments: args } });
  hold();
  const first = call(1);
  await untilCalled(1);
  const again = call(2);
  expect((await post({ method: 'notifications/cancelled', params: { requestId: 1 } })).status).toBe(202);
  for (const release of held) release();
  await Promise.all([first, again]);
  expect(slow.calls).toHaveLength(1);
  expect(await balanceOf(h, key)).toEqual({ available: '1.95', held: '0.00' });
});

it('a repetition that overtakes the hang-up of the call before it, and names the agent otherwise: one purchase', async () => {
  const { key } = await newClient(h, '2');
  const { slug } = (await h.request('GET', `/agents/${slow.id}`)).body.data;
  const args = { task: 'Overtaken on another connection.', maxCost: '0.05' };
  hold();
  const hangUp = callOf(key, { ...args, agentId: slow.id });
  await untilCalled(1);
  const again = callTool(h.baseUrl, key, 'invoke_agent', { ...args, agentId: slug });
  await hangUp();
  for (const release of held) release();
  expect((await again).body.result.structuredContent).toMatchObject({ status: 'completed', cost: '0.05' });
  expect(slow.calls).toHaveLength(1);
  expect(await balanceOf(h, key)).toEqual({ available: '1.95', held: '0.00' });
});
