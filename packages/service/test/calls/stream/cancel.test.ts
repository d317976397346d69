import { parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askDatabase, contradictions } from '../../support/books.ts';
import { beforeDeadline } from '../../support/deadline.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { isLong } from '../../support/long.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded, untilUsdc } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';

const RACES = isLong ? 200 : 60;
let h: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await startHarness({ env: { MAX_RUNNING: '1', MAX_RUNNING_PER_ACCOUNT: '2', MAX_RUNNING_PER_AGENT: '2' } });
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  client = await newClient(h, '1.00');
});
afterAll(async () => {
  await agent.die();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

/** Holds every call until it is let go; tells when a call came and when its connection went. */
function held() {
  const gate = Promise.withResolvers<void>();
  const came = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  agent.behave(async (request, response) => {
    response.once('close', closed.resolve);
    came.resolve();
    await gate.promise;
    await echo(request, response);
  });
  return { letGo: gate.resolve, came: came.promise, closed: closed.promise };
}
const invoke = async (body: object = {}, key = client.key) =>
  (await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x', ...body } })).body.data;
const cancel = (requestId: string, key = client.key) => h.request('POST', `/invoke/${requestId}/cancel`, { key });

describe('cancelling', () => {
  it('a request at work breaks the call off and gives a treasury its money back at once', async () => {
    const call = held();
    const { requestId, status } = await invoke();
    expect(status).toBe('processing');
    await call.came;
    const { status: code, body } = await cancel(requestId);
    expect({ code, data: body.data }).toEqual({
      code: 200,
      data: { requestId, cancelled: true, refund: '0.05', reason: 'user_cancellation' },
    });
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
    await call.closed;
    expect(await untilEnded(h, client.key, requestId)).toMatchObject({
      ...{ status: 'cancelled', result: null, cost: '0.00', refund: '0.05', error: null },
      completedAt: expect.any(String),
    });
    call.letGo();
  });

  it('a request that waits in line takes it out: its agent never hears of it', async () => {
    const call = held();
    const first = await invoke();
    await call.came;
    const waiting = await invoke({ task: 'waiting' });
    expect(waiting.status).toBe('pending');
    expect((await cancel(waiting.requestId)).body.data).toMatchObject({ cancelled: true, refund: '0.05' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.05' });
    call.letGo();
    await untilEnded(h, client.key, first.requestId);
    const third = await invoke({ task: 'third' });
    await untilEnded(h, client.key, third.requestId);
    expect(agent.calls.map(({ body }) => body.task)).not.toContain('waiting');
  });

  it('a request that has ended is refused with CONFLICT and changes nothing', async () => {
    agent.behave(echo);
    const { requestId } = await invoke();
    const record = await untilEnded(h, client.key, requestId);
    const again = await cancel(requestId);
    expect([again.status, again.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(await untilEnded(h, client.key, requestId)).toEqual(record);
    const call = held();
    const other = await invoke();
    await call.came;
    expect((await cancel(other.requestId)).status).toBe(200);
    expect((await cancel(other.requestId)).status).toBe(409);
    call.letGo();
  });

  it('what is not yours, or nothing, is NOT_FOUND, and it goes on', async () => {
    const call = held();
    const { requestId } = await invoke();
    await call.came;
    const stranger = await h.newAccount();
    for (const key of [stranger.key, agent.identityToken]) expect((await cancel(requestId, key)).status).toBe(404);
    expect((await cancel('req_00000000000000000000000000')).status).toBe(404);
    call.letGo();
    expect((await untilEnded(h, client.key, requestId)).status).toBe('completed');
  });

  it('a request paid by x402 sends the money back to the wallet on chain', async () => {
    const call = held();
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const body = { task: 'x', webhookUrl: 'http://127.0.0.1:1/never' };
    const unpaid = await h.request('POST', `/invoke/${agent.id}`, { key, body });
    const headers = await payV2(h, wallet, unpaid);
    const { data } = (await h.request('POST', `/invoke/${agent.id}`, { key, body, headers })).body;
    expect(data).toMatchObject({ status: 'processing', estimatedCost: '0.05' });
    await call.came;
    expect((await cancel(data.requestId, key)).body.data).toMatchObject({ cancelled: true, refund: '0.05' });
    await call.closed;
    expect(await untilUsdc(h, wallet.address, 1_000_000n)).toBe(1_000_000n);
    call.letGo();
  });
});

it(`cancelled and completed at the same moment, over ${RACES} runs: one of them happened, and the money agrees`, async () => {
  agent.behave(
    (_request, response) =>
      void setTimeout(() => answerWith(200, { result: 'r' })({ headers: {}, body: null }, response), 2),
  );
  const outcomes = { cancelled: 0, completed: 0 };
  const rich = await newClient(h, '20.00');
  const runs = Array.from({ length: RACES }, (_, run) => run);
  const race = async (run: number) => {
    const { requestId } = await invoke({}, rich.key);
    await new Promise((resolve) => setTimeout(resolve, run % 12));
    const answer = await cancel(requestId, rich.key);
    const record = await untilEnded(h, rich.key, requestId);
    expect([200, 409]).toContain(answer.status);
    expect(record.status).toBe(answer.status === 200 ? 'cancelled' : 'completed');
    expect([record.cost, record.refund]).toEqual(answer.status === 200 ? ['0.00', '0.05'] : ['0.05', '0.00']);
    outcomes[record.status as keyof typeof outcomes] += 1;
  };
  for (let from = 0; from < runs.length; from += 4) await Promise.all(runs.slice(from, from + 4).map(race));
  expect(outcomes.cancelled).toBeGreaterThan(RACES / 40);
  expect(outcomes.completed).toBeGreaterThan(RACES / 40);
  const { available, held: stillHeld } = await balanceOf(h, rich.key);
  expect([parseUsdc(available), stillHeld]).toEqual([20_000_000n - BigInt(outcomes.completed) * 50_000n, '0.00']);
  const [ends] = await askDatabase<{ twice: string }>(
    h.databaseUrl,
    `select count(*) as twice from (select subject_id from event where type like 'invocation.%' group by 1 having count(*) > 1) x`,
  );
  expect(ends?.twice).toBe('0');
});

it(`a deadline and the result at the same moment, over ${RACES / 2} runs: one of them happened, and the money agrees`, async () => {
  agent.behave((request, response) => {
    const leftMs = Date.parse(request.body.deadline) - Date.now();
    const waitMs = Math.max(0, leftMs + Math.round(Math.random() * 6) - 4);
    setTimeout(() => answerWith(200, { result: 'r' })(request, response), waitMs);
  });
  const rich = await newClient(h, '10.00');
  const states: string[] = [];
  let leftMs = 300;
  const race = async (): Promise<void> => {
    const triedMs = leftMs;
    const deadline = new Date(Date.now() + triedMs).toISOString();
    const options = { key: rich.key, body: { task: 'x', deadline }, headers: { 'x-sync': 'true' } };
    const { status, body } = await h.request('POST', `/invoke/${agent.id}`, options);
    if (body.error) {
      // A busy machine has no call begun so soon before its deadline, or too many wait: the next one gets more time.
      expect([400, 429, 503]).toContain(status);
      // Those that ran at the same time and failed as well ask for no more.
      leftMs = Math.max(leftMs, 2 * triedMs);
      return race();
    }
    // Nobody is kept waiting for longer than 30 seconds.
    const record = await untilEnded(h, rich.key, body.data.requestId);
    expect(record.error?.code ?? null).toBe(record.status === 'failed' ? 'deadline_exceeded' : null);
    expect(record.cost).toBe(record.status === 'completed' ? '0.05' : '0.00');
    states.push(record.status);
  };
  for (let from = 0; from < RACES / 2; from += 10) await Promise.all(Array.from({ length: 10 }, race));
  const completed = states.filter((state) => state === 'completed').length;
  expect(states.filter((state) => state === 'failed').length).toBe(RACES / 2 - completed);
  expect(await balanceOf(h, rich.key)).toMatchObject({ held: '0.00' });
  expect(parseUsdc((await balanceOf(h, rich.key)).available)).toBe(10_000_000n - BigInt(completed) * 50_000n);
});

describe('the line of what waits for room', () => {
  it('is ordered by priority, then by time', async () => {
    const call = held();
    const first = await invoke({ task: 'first' });
    await call.came;
    const priorities = ['low', 'normal', 'high', 'low', 'high', 'normal', undefined] as const;
    const waiting: { requestId: string; status: string }[] = [];
    for (const [index, priority] of priorities.entries())
      waiting.push(await invoke({ task: `${priority} ${index}`, priority }));
    expect(waiting.map(({ status }) => status)).toEqual(Array(7).fill('pending'));
    const from = agent.calls.length;
    call.letGo();
    for (const { requestId } of [first, ...waiting])
      expect((await untilEnded(h, client.key, requestId)).status).toBe('completed');
    expect(agent.calls.slice(from).map(({ body }) => body.task)).toEqual([
      ...['high 2', 'high 4', 'normal 1', 'normal 5', 'undefined 6', 'low 0', 'low 3'],
    ]);
  });

  it('is left by who waits past its deadline, though there is no room; its money goes back', async () => {
    const call = held();
    const first = await invoke();
    await call.came;
    const late = await beforeDeadline(300, async (deadline) => (await invoke({ task: 'late', deadline })) ?? null);
    expect(late.status).toBe('pending');
    const record = await untilEnded(h, client.key, late.requestId);
    expect(record).toMatchObject({
      status: 'failed',
      error: { code: 'deadline_exceeded' },
      refund: '0.05',
      duration: null,
    });
    call.letGo();
    await untilEnded(h, client.key, first.requestId);
    expect(agent.calls.map(({ body }) => body.task)).not.toContain('late');
  });

  it('is not for who waits for the result', async () => {
    const call = held();
    await invoke({ task: 'first' });
    await call.came;
    const sync = h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: 'sync' },
      headers: { 'x-sync': 'true' },
    });
    for (let looks = 0; agent.calls.at(-1)?.body.task !== 'sync' && looks < 500; looks++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect(agent.calls.at(-1)?.body.task).toBe('sync');
    call.letGo();
    expect((await sync).body.data.status).toBe('completed');
  });
});
