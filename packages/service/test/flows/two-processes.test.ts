import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../src/compose/local/free-port.ts';
import { askDatabase, contradictions, walletByBooks } from '../support/books.ts';
import type { TestAccount } from '../support/harness.ts';
import { at, type NodeCluster, type NodeProcess, startCluster } from '../support/node-cluster.ts';
import type { RpcCall } from '../support/rpc-proxy.ts';
import { echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

/** Those that run at once wait for deaths and drains in real time. */
vi.setConfig({ maxConcurrency: 3 });

let cluster: NodeCluster;
/** Two that are there from the start; each test that ends one leaves the other. */
let lasting: NodeProcess;
let second: NodeProcess;
let ports: readonly [number, number];
const agents: TestAgent[] = [];
const hang = () => undefined;

beforeAll(async () => {
  [cluster, ports] = [await startCluster(), [await freePort(0), await freePort(0)]];
  [lasting, second] = [await startAt(0), await startAt(1)];
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await cluster?.stop();
});

/** Of one address in front, as behind a proxy; here each is asked at its own. */
async function startAt(index: 0 | 1): Promise<NodeProcess> {
  const [front, baseUrl] = [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[index]}`];
  return { ...(await cluster.startProcess({ PORT: String(ports[index]), BASE_URL: front })), baseUrl };
}

async function newAgent(host = at(cluster, lasting)): Promise<{ agent: TestAgent; owner: TestAccount }> {
  const owner = await host.newAccount();
  const agent = await startTestAgent(host, { owner, perRequest: '0.05' });
  agents.push(agent);
  return { agent, owner };
}

async function expectSoundBooks({ databaseUrl, usdcOf, walletAddress }: NodeCluster): Promise<void> {
  expect(await contradictions(databaseUrl)).toEqual([]);
  expect(await walletByBooks(databaseUrl)).toBe(await usdcOf(walletAddress));
}

async function startCalls(process: NodeProcess, agent: TestAgent, count: number) {
  const from = agent.calls.length;
  const host = at(cluster, process);
  const { key } = await newClient(host, '2.00');
  const asked = Array.from({ length: count }, () =>
    host.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'long' } }),
  );
  const ids = (await Promise.all(asked)).map(({ body }) => String(body.data.requestId));
  const areCalled = async () => agent.calls.length - from >= count;
  await until(areCalled);
  return { key, ids };
}

/** Its status, or the code of what failed; on a connection of its own. */
const postOnce = (url: string, key: string, mark: string): Promise<string> =>
  new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-sync': 'true',
      'idempotency-key': mark,
    };
    request(url, { method: 'POST', headers, agent: false }, (answer) => {
      text(answer).then(
        (said) => resolve(answer.statusCode === 200 ? '200' : said),
        (error) => resolve(String(error)),
      );
    })
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end(JSON.stringify({ task: 'roll' }));
  });

it('two processes: one shows what the other has answered, and nothing old after it was stopped', async () => {
  const { agent, owner } = await newAgent();
  const [here, there] = [at(cluster, lasting), at(cluster, second)];
  const rename = async (host: typeof here, name: string) => {
    const { status } = await host.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { name } });
    expect(status).toBe(200);
  };
  const found = async (host: typeof here, text: string) =>
    (await host.request('POST', '/agents/search', { body: { query: { text } } })).body.data?.total;
  const unseen: string[] = [];
  for (let turn = 0; turn < 12; turn++) {
    const [writer, reader] = turn % 2 === 0 ? [here, there] : [there, here];
    // Read just before: the reader's copies are as young as they can be without the change.
    await found(reader, 'before');
    await rename(writer, `turn${turn}`);
    if ((await found(reader, `turn${turn}`)) !== 1) unseen.push(`turn${turn}`);
  }
  expect(unseen).toEqual([]);
  await found(there, 'before');
  second.child.kill('SIGSTOP');
  await rename(here, 'asleep');
  const asked = [found(there, 'asleep'), found(there, 'turn11')];
  second.child.kill('SIGCONT');
  expect(await Promise.all(asked)).toEqual([1, 0]);
  const answer = await there.request('GET', '/agents');
  expect(answer.headers.get('x-registry-position')).toMatch(/^\d+$/);
});

/** Alone: it asks that no call fails, whatever the load. */
it('two processes: each is stopped and started in turn: no call fails, not even one that waits for its result', async () => {
  const { agent } = await newAgent();
  const { key } = await newClient(at(cluster, lasting), '50.00');
  // Slower than a stop takes: some calls are always under way.
  agent.behave(async (request, response) => {
    await sleep(300);
    return echo(request, response);
  });
  let isOver = false;
  const answers: string[] = [];
  /** As the SDK: when a connection is refused or breaks, the same request under the same key goes to the other process. */
  const ask = async (first: number, mark: string) => {
    for (const port of [ports[first % 2], ports[(first + 1) % 2]]) {
      const answer = await postOnce(`http://127.0.0.1:${port}/invoke/${agent.id}`, key, mark);
      if (answer !== 'ECONNREFUSED' && answer !== 'ECONNRESET') return answer;
    }
    return 'both refuse';
  };
  const callers = Array.from({ length: 6 }, async (_, caller) => {
    for (let count = 0; !isOver; count++) answers.push(await ask(caller + count, `roll-${caller}-${count}`));
  });
  await lasting.terminate();
  lasting = await startAt(0);
  await second.terminate();
  second = await startAt(1);
  isOver = true;
  await Promise.all(callers);
  expect(answers.length).toBeGreaterThan(20);
  expect(answers.filter((answer) => answer !== '200')).toEqual([]);
});

describe.concurrent('two processes of one node', () => {
  it('one is killed in the middle of 20 running calls: the other ends all 20 within 30 s, each charged once', async ({
    expect,
  }) => {
    const { agent, owner } = await newAgent();
    agent.behave(hang);
    const { key, ids } = await startCalls(second, agent, 20);
    agent.behave(echo);
    await second.kill();
    const records = await Promise.all(ids.map((id) => untilEnded(at(cluster, lasting), key, id)));
    expect(records.map(({ status, cost }) => [status, cost])).toEqual(Array(20).fill(['completed', '0.05']));
    expect(new Set(agent.calls.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(ids));
    expect(await balanceOf(at(cluster, lasting), key)).toEqual({ available: '1.00', held: '0.00' });
    expect((await balanceOf(at(cluster, lasting), owner.key)).available).toBe('1.00');
  });

  it('one is asked to stop: it ends within 5 s, returns the current state to waiting callers, and the other continues its work', async ({
    expect,
  }) => {
    const { agent } = await newAgent();
    const leaving = await cluster.startProcess();
    agent.behave(hang);
    const { key, ids } = await startCalls(leaving, agent, 5);
    const waiting = at(cluster, leaving).request('POST', `/invoke/${agent.id}`, {
      key,
      headers: { 'x-sync': 'true' },
      body: { task: 'long' },
    });
    const areCalled = async () => agent.calls.length === 6;
    await until(areCalled);
    agent.behave(echo);
    expect(await leaving.terminate()).toBeLessThan(5000);
    const { status, body } = await waiting;
    expect([status, body.data.status]).toEqual([200, 'processing']);
    ids.push(body.data.requestId);
    const records = await Promise.all(ids.map((id) => untilEnded(at(cluster, lasting), key, id)));
    expect(records.map(({ status }) => status)).toEqual(Array(6).fill('completed'));
    expect(await balanceOf(at(cluster, lasting), key)).toEqual({ available: '1.70', held: '0.00' });
  });
});

/** One after the other: all processes of a node have one signer. */
it.for([
  ['keeps a payment waiting', (call: RpcCall) => call.answer(`0x${'0'.repeat(64)}`)],
  ['does not answer', () => new Promise<never>(() => undefined)],
] as const)(
  'two processes: one is asked to stop while the chain %s: it ends within 5 s, the other gets the result',
  async ([, rule]) => {
    const leaving = await cluster.startProcess();
    const { agent } = await newAgent();
    const { key } = await cluster.newAccount();
    const wallet = await cluster.newWallet(50_000n);
    const call = { key, body: { task: 'patience' } };
    const path = `/invoke/${agent.id}`;
    const headers = await payV2(cluster, wallet, await at(cluster, leaving).request('POST', path, call));
    const sent = Promise.withResolvers<void>();
    cluster.proxy.rule('eth_sendRawTransaction', (call) => {
      sent.resolve();
      return rule(call);
    });
    const lost = at(cluster, leaving)
      .request('POST', path, { ...call, headers })
      .catch(() => null);
    await sent.promise;
    expect(await leaving.terminate()).toBeLessThan(5000);
    const pending = await lost;
    if (pending) expect(pending.body.error?.code).toMatch(/PAYMENT_PENDING|UNAVAILABLE/);
    cluster.proxy.rule('eth_sendRawTransaction', null);
    const { status, body } = await at(cluster, lasting).request('POST', path, { ...call, headers });
    expect({ status, ...body.data }).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(await cluster.usdcOf(wallet.address)).toBe(0n);
    await expectSoundBooks(cluster);
  },
);

/** Alone: all processes of a node have one signer. */
it('two processes: one is killed when it has accepted a withdrawal and not sent it: the other sends it within 15 s', async () => {
  const dying = await cluster.startProcess({ FAILPOINT: 'before-pay-owed' });
  const { key } = await newClient(at(cluster, lasting), '1.00');
  const { address } = await cluster.newWallet(0n);
  const body = { amount: '1.00', to: address };
  const lost = at(cluster, dying).request('POST', '/payments/withdraw', { key, body });
  await expect(lost).rejects.toThrow();
  expect(await dying.ended).toBe('SIGKILL');
  const states = () =>
    askDatabase(cluster.databaseUrl, 'select state from chain_payment where to_address = $1', [address.toLowerCase()]);
  await expect.poll(states).toEqual([{ state: 'settled' }]);
  expect(await cluster.usdcOf(address)).toBe(1_000_000n);
  await expectSoundBooks(cluster);
});

/** Alone: it is the one with the shortest limit. The last: none is left. */
it('two processes: one is asked to stop while calls are about to end: it ends them, and soon', async () => {
  const { agent } = await newAgent();
  const gate = Promise.withResolvers<void>();
  agent.behave(async (request, response) => {
    await gate.promise;
    await echo(request, response);
  });
  const from = agent.calls.length;
  const host = at(cluster, lasting);
  const { key } = await newClient(host, '0.05');
  const waiting = host.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'x' },
    headers: { 'x-sync': 'true' },
  });
  await until(async () => agent.calls.length > from);
  const tookMs = lasting.terminate();
  gate.resolve();
  expect((await waiting).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
  expect(await tookMs).toBeLessThan(2500);
  expect(agent.calls.length - from).toBe(1);
});

it('after all of that, the books have no contradiction, and the wallet holds what they say', async () => {
  await expectSoundBooks(cluster);
});
