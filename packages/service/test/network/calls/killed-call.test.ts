import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MortalNode, startJoinableHarness, startMortalNode } from '../../calls/stream/support/second-node.ts';
import { type Finish, openSse, problemWithStream } from '../../calls/stream/support/sse-client.ts';
import { chunk, result, spokenBy } from '../../calls/stream/support/streaming-agent.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { type Behaviour, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { listNode, listRemote } from './support/list-node.ts';
import { untilSettled } from './support/two-nodes.ts';

const places = ['before-sign-bill-commit', 'after-sign-bill-commit', 'after-agent-call:2', 'before-finish-commit'];
let home: Harness;
let here: Harness;
let client: Client;
let calls: Record<string, Call>;
const finish: (() => unknown)[] = [];
const atTheEnd: Finish = (end) => void finish.push(end as () => unknown);
const gate = Promise.withResolvers<void>();
const working = Promise.withResolvers<void>();
const speech = spokenBy();
/** A stream that was read, and what was read of it, until its process died. */
let stream: Awaited<ReturnType<typeof openSse>>;
let talk: Awaited<ReturnType<typeof speech.next>>;
let heard: Awaited<ReturnType<typeof stream.take>>;
const slow: Behaviour = async (request, response) => {
  working.resolve();
  await gate.promise;
  await echo(request, response);
};

interface Call {
  readonly agent: TestAgent;
  readonly mortal: MortalNode;
  readonly requestId: string;
}

/** All processes start before any of them is called, as those that live take over from those that died. */
beforeAll(async () => {
  home = await startHarness({ syncWaitMs: 1000 });
  here = await startJoinableHarness({ CHAIN_RPC_URL: home.rpcUrl });
  await listNode(home, here);
  const nodeId = await listNode(here, home);
  client = await newClient(here, '10');
  const start = (env = {}) => startMortalNode(here, env, atTheEnd);
  const listed = async (behaviour: Behaviour) => {
    const agent = await startTestAgent(home, { perRequest: '0.05', behaviour });
    finish.push(agent.die);
    await listRemote(here, nodeId, agent);
    return agent;
  };
  const arrange = async (name: string, behaviour: Behaviour, starting: Promise<MortalNode>) => {
    const [agent, mortal] = await Promise.all([listed(behaviour), starting]);
    return { name, agent, mortal };
  };
  const killed = start();
  const arranged = await Promise.all([
    arrange('killed', slow, killed),
    arrange('streaming', speech.behaviour, killed),
    ...places.map((FAILPOINT) => arrange(FAILPOINT, echo, start({ FAILPOINT }))),
  ]);
  const called = arranged.map(async ({ name, agent, mortal }): Promise<[string, Call]> => {
    const body = { task: name, stream: name === 'streaming' };
    const answer = await mortal.request('POST', `/invoke/${agent.id}`, { key: client.key, body });
    if (!answer.body.data) throw new Error(`${name} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return [name, { agent, mortal, requestId: answer.body.data.requestId }];
  });
  calls = Object.fromEntries(await Promise.all(called));
  await killInTheMidst();
});
afterAll(async () => {
  await Promise.all(finish.map((each) => each()));
  await here.stop();
  await home.stop();
});

const callOf = (name: string) => calls[name] as Call;

/** One death for a call that is at work and for a stream of which a part was read. */
async function killInTheMidst(): Promise<void> {
  const { requestId, mortal } = callOf('streaming');
  talk = await speech.next();
  stream = await openSse(here, 'GET', `/invoke/${requestId}/events`, { key: client.key, finish: atTheEnd });
  talk.say(chunk({ n: 1 }));
  talk.say(chunk({ n: 2 }));
  heard = await stream.take(4);
  await working.promise;
  await mortal.kill();
}

/** Runs at the agent, and payments that its home has settled for it. */
async function timesOf({ agent }: Call) {
  const paid = await askDatabase(
    home.databaseUrl,
    `select from chain_payment p join invocation i on i.id = p.subject_id
      where p.purpose = 'invocation' and p.state = 'settled' and i.agent_id = $1`,
    [agent.id],
  );
  return { run: agent.calls.length, paid: paid.length };
}

it('a call of a process killed halfway is paid once, and run once', async () => {
  const call = callOf('killed');
  const isTaken = async () => {
    const [row] = await askDatabase(here.databaseUrl, 'select attempt from invocation where id = $1', [call.requestId]);
    return row?.attempt > 1;
  };
  await until(isTaken);
  gate.resolve();
  const record = await untilEnded(here, client.key, call.requestId);
  expect(record).toMatchObject({ status: 'completed', result: { echo: 'killed' }, cost: '0.05' });
  expect(await timesOf(call)).toEqual({ run: 1, paid: 1 });
});

it('a stream of a killed process continues in another after the stored chunks', async () => {
  const call = callOf('streaming');
  talk.say(chunk({ n: 3 }));
  const events = [...heard, ...(await stream.take(1))];
  talk.say(result('done'));
  talk.end();
  events.push(...(await stream.rest()));
  expect(problemWithStream(events)).toBeNull();
  expect(events.slice(2, -1).map(({ data }) => data.n)).toEqual([1, 2, 3]);
  expect(events.at(-1)?.data).toMatchObject({ status: 'completed', result: 'done', cost: '0.05' });
  expect(await timesOf(call)).toEqual({ run: 1, paid: 1 });
});

it.each(places)('a call whose process dies %s is paid once, and run once', async (place) => {
  const call = callOf(place);
  await call.mortal.ended;
  await call.mortal.kill();
  const record = await untilEnded(here, client.key, call.requestId);
  expect(record).toMatchObject({ status: 'completed', result: { echo: place }, cost: '0.05' });
  expect(await timesOf(call)).toEqual({ run: 1, paid: 1 });
});

it('in the end all is paid for once, and the books of both nodes say so', async () => {
  await untilSettled(home, here);
  expect(await balanceOf(here, client.key)).toEqual({ available: '9.70', held: '0.00' });
  for (const node of [home, here]) expect(await contradictions(node.databaseUrl)).toEqual([]);
});
