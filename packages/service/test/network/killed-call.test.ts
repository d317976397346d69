import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../src/lib/until.ts';
import { type MortalNode, startJoinableHarness, startMortalNode } from '../streams/support/second-node.ts';
import { openSse, problemWithStream } from '../streams/support/sse-client.ts';
import { chunk, result, spokenBy } from '../streams/support/streaming-agent.ts';
import { contradictions } from '../support/books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type Behaviour, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../support/treasury.ts';
import { listNode, listRemote } from './support/list-node.ts';
import { untilSettled } from './support/two-nodes.ts';

let home: Harness;
let here: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  home = await startHarness({ syncWaitMs: 1000 });
  here = await startJoinableHarness({ CHAIN_RPC_URL: home.rpcUrl });
  agent = await startTestAgent(home, { perRequest: '0.05' });
  await listNode(home, here);
  await listRemote(here, await listNode(here, home), agent);
  client = await newClient(here, '10');
});
afterAll(async () => {
  await agent.die();
  for (const node of [home, here]) expect(await contradictions(node.databaseUrl)).toEqual([]);
  await here.stop();
  await home.stop();
});

/** Each starts a process, which takes its time on a busy machine. */
const LONG = { timeout: 60_000 };
const paidBy = () => home.ctx.db.query('count-paid', `select from chain_payment where purpose = 'invocation'`);

it('a call whose process is killed in its midst is paid once, and run once', LONG, async () => {
  const before = await balanceOf(here, client.key);
  const mortal: MortalNode = await startMortalNode(here);
  const gate = Promise.withResolvers<void>();
  const working = Promise.withResolvers<void>();
  const behaviour: Behaviour = async (request, response) => {
    working.resolve();
    await gate.promise;
    await echo(request, response);
  };
  agent.behave(behaviour);
  const { requestId } = (await mortal.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } }))
    .body.data;
  await working.promise;
  await mortal.kill();
  const taken = async () =>
    (
      await here.ctx.db.query<{ attempt: number }>('read-attempt', 'select attempt from invocation where id = $1', [
        requestId,
      ])
    )[0]?.attempt === 2
      ? true
      : null;
  expect(await until(taken, { timeoutMs: 30_000, firstMs: 20, mostMs: 100 })).toBe(true);
  gate.resolve();
  expect(await untilEnded(here, client.key, requestId, 30_000)).toMatchObject({
    status: 'completed',
    result: { echo: 'x' },
    cost: '0.05',
  });
  expect(agent.calls).toHaveLength(1);
  expect(await paidBy()).toHaveLength(1);
  await untilSettled(home, here);
  expect(Number(before.available) - Number((await balanceOf(here, client.key)).available)).toBeCloseTo(0.05);
});

it('a stream whose process is killed goes on in another behind what was stored', LONG, async () => {
  const mortal = await startMortalNode(here);
  const speech = spokenBy();
  agent.behave(speech.behaviour);
  agent.calls.length = 0;
  const { requestId } = (
    await mortal.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x', stream: true } })
  ).body.data;
  const talk = await speech.next();
  const stream = await openSse(here, 'GET', `/invoke/${requestId}/events`, { key: client.key });
  talk.say(chunk({ n: 1 }));
  talk.say(chunk({ n: 2 }));
  const events = await stream.take(4);
  await mortal.kill();
  talk.say(chunk({ n: 3 }));
  events.push(...(await stream.take(1)));
  talk.say(result('done'));
  talk.end();
  events.push(...(await stream.rest()));
  expect(problemWithStream(events)).toBeNull();
  expect(events.slice(2, -1).map(({ data }) => data.n)).toEqual([1, 2, 3]);
  expect(events.at(-1)?.data).toMatchObject({ status: 'completed', result: 'done', cost: '0.05' });
  expect(agent.calls).toHaveLength(1);
  expect(await paidBy()).toHaveLength(2);
  await untilSettled(home, here);
});

it.each(['before-sign-bill-commit', 'after-sign-bill-commit', 'after-agent-call:2', 'before-finish-commit'])(
  'a call whose process dies %s is paid once, and run once',
  LONG,
  async (FAILPOINT) => {
    const mortal = await startMortalNode(here, { FAILPOINT });
    agent.behave(echo);
    agent.calls.length = 0;
    const before = (await paidBy()).length;
    const body = { task: FAILPOINT };
    const { requestId } = (await mortal.request('POST', `/invoke/${agent.id}`, { key: client.key, body })).body.data;
    await mortal.ended;
    await mortal.kill();
    const record = await untilEnded(here, client.key, requestId, 30_000);
    expect(record).toMatchObject({ status: 'completed', result: { echo: FAILPOINT }, cost: '0.05' });
    expect(agent.calls).toHaveLength(1);
    expect(await paidBy()).toHaveLength(before + 1);
    await untilSettled(home, here);
  },
);
