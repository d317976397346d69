import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { recoverInvocations } from '../../../src/calls/run/recover-invocations.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { listNode, listRemote } from './support/list-node.ts';
import { startBehindProxy, startBeside, untilSettled } from './support/two-nodes.ts';

// Agents of other nodes that ask their callers back.

let home: Awaited<ReturnType<typeof startBehindProxy>>;
let here: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  home = await startBehindProxy();
  here = await startBeside(home);
  agent = await startTestAgent(home, { perRequest: '0.05' });
  await listNode(home, here);
  await listRemote(here, await listNode(here, home), agent);
  client = await newClient(here, '5');
});
beforeEach(() => {
  agent.calls.length = 0;
  home.proxy.rule(null);
});
afterEach(async () => {
  await untilSettled(home, here);
  for (const node of [home, here]) {
    expect(await contradictions(node.databaseUrl)).toEqual([]);
    expect(await findMoneyContradictions(node.ctx)).toEqual([]);
  }
});
afterAll(async () => {
  await agent.die();
  await here.stop();
  await home.stop();
});

const schema = { type: 'object', properties: { day: { enum: ['Monday', 'Friday'] } }, required: ['day'] };
const asksForDay: Behaviour = (request, response) => {
  const [given] = request.body.answers ?? [];
  if (!given)
    return answerWith(200, { status: 'input_required', input: { id: 'day', message: 'Which day?', schema } })(
      request,
      response,
    );
  if (given.action === 'decline') return answerWith(422, { error: { message: 'no' } })(request, response);
  return answerWith(200, { result: { booked: given.input.day }, cost: '0.04' })(request, response);
};

const invoke = async (more: object = {}): Promise<RequestRecord> => {
  agent.behave(asksForDay);
  const body = { task: 'Book a table', interactive: true, ...more };
  return (await here.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers: { 'x-sync': 'true' } }))
    .body.data;
};
const answer = (record: RequestRecord, given: object) =>
  here.request('POST', `/invoke/${record.requestId}/input`, {
    ...{ key: client.key, body: { inputId: record.inputRequest?.inputId, action: 'accept', ...given } },
  });
const monday = { input: { day: 'Monday' }, message: 'At noon.' };
const turnsOfAgent = () => agent.calls.map(({ body }) => body.turn ?? 1);

describe('an agent of another node', () => {
  it('asks, is answered through its home, and is paid there once', async () => {
    const before = Number((await balanceOf(here, client.key)).available);
    const record = await invoke();
    expect(record).toMatchObject({
      status: 'input_required',
      inputRequest: { message: 'Which day?', schema, turn: 1 },
    });
    expect((await answer(record, { input: { day: 'Sunday' } })).status).toBe(400);
    expect((await answer(record, monday)).status).toBe(200);
    const done = await untilEnded(here, client.key, record.requestId);
    expect(done).toMatchObject({ status: 'completed', result: { booked: 'Monday' }, turn: 2 });
    expect(agent.calls.at(-1)?.body.answers).toMatchObject([{ id: 'day', input: monday.input, message: 'At noon.' }]);
    expect(turnsOfAgent()).toEqual([1, 2]);
    await untilSettled(home, here);
    const spent = async () => Number((before - Number((await balanceOf(here, client.key)).available)).toFixed(6));
    await expect.poll(spent).toBe(0.04);
  });

  it('streams up to its question, and on behind it', async () => {
    const said = (text: string) => `event: chunk\ndata: {"chunk":"${text}"}\n\n`;
    const ask = 'event: input_required\ndata: {"input":{"message":"Which day?"}}\n\n';
    agent.behave((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        request.body.answers ? `${said('two')}event: result\ndata: {"result":"done"}\n\n` : said('one') + ask,
      );
    });
    const body = { task: 'Book', interactive: true, stream: true };
    const accept = { accept: 'text/event-stream' };
    const first = await here.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers: accept });
    const requestId = /"requestId":"(req_\w+)"/.exec(first.body)?.[1] ?? '';
    const read = async () => (await here.request('GET', `/invoke/${requestId}`, { key: client.key })).body.data;
    await answer(await read(), {});
    expect(await untilEnded(here, client.key, requestId)).toMatchObject({ status: 'completed', result: 'done' });
    const all = await here.request('GET', `/invoke/${requestId}/events`, { key: client.key, headers: accept });
    const told = String(all.body).match(/"chunk":"\w+"|event: invocation\.(input_required|completed)/g);
    expect(told).toEqual([
      '"chunk":"one"',
      'event: invocation.input_required',
      '"chunk":"two"',
      'event: invocation.completed',
    ]);
  });

  it('hears that the answer is declined: refunded', async () => {
    const record = await invoke();
    await answer(record, { action: 'decline' });
    const done = await untilEnded(here, client.key, record.requestId);
    expect(done).toMatchObject({ status: 'failed', error: { code: 'input_declined' } });
    expect(turnsOfAgent()).toEqual([1, 2]);
  });

  it('is cancelled at its home when its caller cancels', async () => {
    const record = await invoke();
    await here.request('POST', `/invoke/${record.requestId}/cancel`, { key: client.key });
    const rows = async () => askDatabase(home.databaseUrl, "select from invocation where status = 'input_required'");
    await expect.poll(rows, { timeout: 20_000 }).toEqual([]);
    expect(turnsOfAgent()).toEqual([1]);
  });

  it('gets an answer once although its home is away for a while, and the answer is sent again', async () => {
    const record = await invoke();
    let away = 0;
    home.proxy.rule(async (passed) => {
      if (!passed.path.endsWith('/input') || away++ >= 2) return false;
      // Once it is lost on the way there, once on the way back.
      if (away === 2) await passed.pass();
      passed.response.destroy();
      return true;
    });
    await answer(record, monday);
    expect(await untilEnded(here, client.key, record.requestId)).toMatchObject({ status: 'completed' });
    expect(turnsOfAgent()).toEqual([1, 2]);
    expect(home.proxy.seen.filter(({ path }) => path.endsWith('/input')).length).toBeGreaterThanOrEqual(3);
  });

  it('gets an answer once although the process dies that passed it on', async () => {
    const record = await invoke();
    const held = Promise.withResolvers<void>();
    home.proxy.rule(async (passed) => {
      if (!passed.path.endsWith('/input')) return false;
      await passed.pass();
      passed.response.destroy();
      await held.promise;
      return true;
    });
    await answer(record, monday);
    await until(async () => agent.calls.length === 2);
    const takeAway = 'update invocation set attempt = attempt + 1, worker = gen_random_uuid() where id = $1';
    await askDatabase(here.databaseUrl, takeAway, [record.requestId]);
    home.proxy.rule(null);
    held.resolve();
    await until(async () => !here.ctx.runner.trackedIds().includes(record.requestId));
    await recoverInvocations(here.ctx);
    expect(await untilEnded(here, client.key, record.requestId)).toMatchObject({ status: 'completed' });
    expect(turnsOfAgent()).toEqual([1, 2]);
  });
});

it.each<[string, () => Harness]>([
  ["the caller's node has not announced that it passes questions on", () => home],
  ['its home has not', () => here],
])('an agent of another node asks nobody where %s', async (_what, at) => {
  const set = (isInteractive: boolean) =>
    askDatabase(at().databaseUrl, 'update network_node set is_interactive = $1', [isInteractive]);
  await set(false);
  // The copy of the agent in memory is told of the change.
  await until(async () => (await at().ctx.agentFinder.find(agent.id))?.home?.isInteractive !== true);
  const record = await invoke();
  expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_needs_input' } });
  expect(agent.calls[0]?.body).not.toHaveProperty('interactive');
  await set(true);
  await until(async () => (await at().ctx.agentFinder.find(agent.id))?.home?.isInteractive !== false);
});
