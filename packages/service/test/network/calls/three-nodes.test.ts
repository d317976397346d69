import { parseUsdc } from '@agent-network/contracts/money';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../src/lib/concurrency/until.ts';
import { openSse, problemWithStream } from '../../calls/stream/support/sse-client.ts';
import { chunk, result, says } from '../../calls/stream/support/streaming-agent.ts';
import { stockReader } from '../../registry/write/support/stock-reader.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import type { Harness, TestWallet } from '../../support/harness.ts';
import { seenBy, untilSo } from '../../support/network.ts';
import {
  answerWith,
  type Behaviour,
  echo,
  startTestAgent,
  type TestAgent,
  untilStatus,
} from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded, untilUsdc } from '../../support/treasury.ts';
import { type HomeProcess, startHomeProcess } from './support/home-process.ts';
import { moveOn, startBeside, untilSettled } from './support/two-nodes.ts';

/** Three nodes with databases of their own on one chain; the first is a process that can be killed. */
let a: HomeProcess;
let b: Harness;
let c: Harness;
let owner: Client;
let agent: TestAgent;
let substitute: TestAgent;
let client: Client;
let payer: { key: string; wallet: TestWallet };
const foundMs: number[] = [];
const PRICE = 50_000n;

const find = async (node: Harness) =>
  (await node.request('POST', '/agents/search', { body: { query: { text: 'zebrafinch' } } })).body.data;

beforeAll(async () => {
  a = await startHomeProcess('node-a');
  [b, c] = (await Promise.all(
    ['node-b', 'node-c'].map((NODE_LABEL) => startBeside(a, { registers: true, env: { NODE_LABEL } })),
  )) as [Harness, Harness];
  const isListed = (node: Harness) => async () => (await seenBy(node, a.baseUrl))?.status === 'online';
  await Promise.all([b, c].map((node) => untilSo('node-a is listed', isListed(node))));
  [owner, client] = await Promise.all([newClient(a, '0.01'), newClient(b, '10')]);
  payer = { key: (await c.newAccount()).key, wallet: await c.newWallet(1_000_000n) };
  const chain = stockReader(a.rpcUrl);
  const tokens = await chain.countOf(a.registrar);
  agent = await startTestAgent(a, { owner, name: 'Zebrafinch', capabilities: ['singing'] });
  await untilSo('a block has its token', async () => (await chain.countOf(a.registrar)) > tokens);
  const isFound = (node: Harness) => untilSo('it is found', async () => (await find(node)).total === 1);
  foundMs.push(...(await Promise.all([isFound(b), isFound(c)])));
  substitute = await startTestAgent(b, { name: 'Canary', capabilities: ['singing'] });
});
afterAll(async () => {
  await Promise.all([agent?.die(), substitute?.die()]);
  await Promise.all([c?.stop(), b?.stop()]);
  await a?.stop();
});

const callsOf = (task: string) => agent.calls.filter(({ body }) => body.task === task).length;
const read = async (node: Pick<Harness, 'request'>, key: string, requestId: string) =>
  (await node.request('GET', `/invoke/${requestId}`, { key })).body.data;
/** Waits for a record to be as wanted, and answers it. */
async function untilRecord(node: Harness, key: string, requestId: string, wanted: object) {
  let record = await read(node, key, requestId);
  const isAsWanted = async () => {
    await moveOn(node);
    record = await read(node, key, requestId);
    return Object.entries(wanted).every(([name, value]) => record[name] === value);
  };
  await untilSo(`${JSON.stringify(wanted)} of ${requestId}`, isAsWanted).catch((cause) => {
    throw new Error(`the record is ${JSON.stringify(record)}`, { cause });
  });
  return record;
}

/** A call at B, out of a treasury. */
const byTreasury = async (body: object, headers: Record<string, string> = {}) =>
  (await b.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers })).body.data;

/** A call at C by the stock x402 client, which is told a wallet and an address. */
function byStockClient(body: object, headers: Record<string, string> = {}): Promise<Response> {
  const client = new x402Client().register('eip155:84532', new ExactEvmScheme(payer.wallet));
  return wrapFetchWithPayment(fetch, client)(`${c.baseUrl}/invoke/${agent.id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${payer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}
const dataOf = async (response: Response) => ((await response.json()) as { data: Record<string, unknown> }).data;

const treasuryMicro = async () => parseUsdc((await balanceOf(b, client.key)).available);
const walletMicro = () => c.usdcOf(payer.wallet.address);
const earnedMicro = async () => parseUsdc((await balanceOf(a, owner.key)).available);

/** What payers and owner have less or more after some work, once nothing is on its way any more. */
async function moved(work: () => Promise<void>) {
  const state = () => Promise.all([treasuryMicro(), walletMicro(), earnedMicro()]);
  const before = await state();
  await work();
  await expectEven();
  const after = await state();
  const [treasury, wallet, earned] = after.map((each, nth) => each - (before[nth] ?? 0n));
  return { treasury, wallet, earned };
}

/** The books of each node say what the chain says, and B's and C's say of A what A's say of them. */
async function expectEven(): Promise<void> {
  await untilSettled(b, c);
  await untilSo('the reserves of node-a are even', async () => {
    const { difference, status } = (await a.request('GET', '/payments/reserves')).body.data;
    const { wallet } = (await a.request('GET', '/payments/reserves')).body.data;
    const isSame = (await walletByBooks(a.databaseUrl)) === (await a.usdcOf(wallet));
    return isSame && status === 'balanced' && difference === '0.00';
  });
  for (const node of [a, b, c]) expect(await contradictions(node.databaseUrl)).toEqual([]);
  for (const node of [b, c]) {
    const { wallet } = node.ctx;
    expect(await settled(node, `purpose = 'bill'`)).toEqual(
      await settled(a, `purpose = 'invocation' and from_address = '${wallet.address}'`),
    );
  }
}
const settled = ({ databaseUrl }: { databaseUrl: string }, which: string) =>
  askDatabase(
    databaseUrl,
    `select nonce, value_micro::text as micro from chain_payment where state = 'settled' and ${which} order by nonce`,
  );

describe('an agent that is registered and verified at one node', () => {
  it('is found at the others within five seconds of its block, with the label of its home', async () => {
    for (const each of foundMs) expect(each).toBeLessThan(5000);
    for (const node of [b, c]) {
      expect(await find(node)).toMatchObject({ agents: [{ id: agent.id, location: 'node-a', status: 'online' }] });
      const { data } = (await node.request('GET', '/agents?capability=singing')).body;
      expect(data.agents).toContainEqual(expect.objectContaining({ id: agent.id, location: 'node-a' }));
    }
  });

  it('is changed only there', async () => {
    const path = `/identity/${agent.id}`;
    const key = (await b.newAccount()).key;
    const calls: [string, string, object?][] = [
      ['PUT', `/agents/${agent.id}`, { name: 'Mine' }],
      ['DELETE', `/agents/${agent.id}`],
      ['PUT', `${path}/metadata`, { tags: ['x'] }],
      ['POST', '/identity/verify', { agentId: agent.id, proof: 'endpoint' }],
      ['POST', '/identity/verify', { agentId: agent.id, proof: 'wallet' }],
      ['POST', `${path}/claim`],
      ['POST', `${path}/link`, { tokenId: '0' }],
    ];
    for (const [method, to, body] of calls) {
      const { status, body: answer } = await b.request(method, to, { key, ...(body ? { body } : {}) });
      expect([method, to, status, answer.error?.code]).toEqual([method, to, 409, 'CONFLICT']);
      expect(answer.error.message).toContain(a.baseUrl);
    }
    const beat = { timestamp: new Date().toISOString(), status: 'online' };
    for (const each of [key, agent.identityToken])
      expect([401, 403, 409]).toContain(
        (await b.request('POST', `/agents/${agent.id}/heartbeat`, { key: each, body: beat })).status,
      );
    expect((await a.request('GET', `/agents/${agent.id}`)).body.data.name).toBe('Zebrafinch');
  });
});

const stream = { task: 'stream', stream: true };
const accept = { accept: 'text/event-stream' };
const sings = says(chunk({ n: 1 }), chunk({ n: 2 }), result('sung'));
const noHook = 'http://127.0.0.1:9/';

describe('a call from elsewhere is paid once, run once, and the books agree', () => {
  it('sync', async () => {
    agent.behave(echo);
    const change = await moved(async () => {
      const sync = { task: 'sync b', input: { x: 1 } };
      const wanted = { status: 'completed', cost: '0.05', refund: '0.00' };
      expect(await byTreasury(sync, { 'x-sync': 'true' })).toMatchObject({
        ...wanted,
        result: { echo: 'sync b', input: { x: 1 } },
      });
      expect(await dataOf(await byStockClient({ task: 'sync c' }))).toMatchObject({
        ...wanted,
        result: { echo: 'sync c' },
        paymentMethod: 'x402',
      });
    });
    expect(change).toEqual({ treasury: -PRICE, wallet: -PRICE, earned: 2n * PRICE });
    expect(agent.calls).toHaveLength(2);
  });

  it('async', async () => {
    const change = await moved(async () => {
      const made = await Promise.all([
        byTreasury({ task: 'async b' }),
        byStockClient({ task: 'async c', webhookUrl: noHook }).then(dataOf),
      ]);
      for (const { status } of made) expect(['pending', 'processing']).toContain(status);
      const ends = await Promise.all([
        untilEnded(b, client.key, made[0].requestId),
        untilEnded(c, payer.key, String(made[1].requestId)),
      ]);
      for (const end of ends) expect(end).toMatchObject({ status: 'completed', cost: '0.05' });
    });
    expect(change).toEqual({ treasury: -PRICE, wallet: -PRICE, earned: 2n * PRICE });
    expect([callsOf('async b'), callsOf('async c')]).toEqual([1, 1]);
  });

  it('streaming', async () => {
    agent.behave(sings);
    const change = await moved(async () => {
      const open = await openSse(b, 'POST', `/invoke/${agent.id}`, { key: client.key, body: stream });
      const events = await open.rest();
      expect(problemWithStream(events)).toBeNull();
      expect(events.slice(2, -1).map(({ data }) => data.n)).toEqual([1, 2]);
      expect(events.at(-1)?.data).toMatchObject({ status: 'completed', result: 'sung', cost: '0.05' });
      const text = await (await byStockClient(stream, accept)).text();
      expect(text.match(/(?<=^event: ).*/gm)).toEqual(events.map(({ type }) => type));
      expect(text).toContain('"sung"');
    });
    expect(change).toEqual({ treasury: -PRICE, wallet: -PRICE, earned: 2n * PRICE });
    expect(callsOf('stream')).toBe(2);
  });
});

it('a call that its agent fails is refunded at every hop', async () => {
  agent.behave(answerWith(500, { error: { message: 'no' } }));
  const change = await moved(async () => {
    const before = await walletMicro();
    const records = await Promise.all([
      byTreasury({ task: 'fail b' }, { 'x-sync': 'true' }),
      byStockClient({ task: 'fail c' }).then(dataOf),
    ]);
    for (const record of records) expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_error' } });
    const back = { cost: '0.00', refund: '0.05' };
    await untilRecord(b, client.key, records[0].requestId, back);
    await untilRecord(c, payer.key, String(records[1].requestId), back);
    expect(await untilUsdc(c, payer.wallet.address, before)).toBe(before);
  });
  expect(change).toEqual({ treasury: 0n, wallet: 0n, earned: 0n });
  const refunds = await settled(a, `purpose = 'refund'`);
  expect(refunds).toMatchObject([{ micro: '50000' }, { micro: '50000' }]);
});

const online = (node: Harness) => untilStatus(node, agent.id, 'online');
const statusAt = async (node: Harness) => (await node.request('GET', `/agents/${agent.id}/status`)).body.data.status;

describe('a node that is killed', () => {
  it('leaves its agents offline, with alternatives; what was under way ends when it is back, paid once', async () => {
    const gate = Promise.withResolvers<void>();
    const slow: Behaviour = async (request, response) => {
      await gate.promise;
      await echo(request, response);
    };
    agent.behave(slow);
    const change = await moved(async () => {
      const [ofB, ofC] = await Promise.all([
        byTreasury({ task: 'kill b' }),
        byStockClient({ task: 'kill c', webhookUrl: noHook }).then(dataOf),
      ]);
      await untilSo('both are at work', async () => callsOf('kill b') + callsOf('kill c') === 2);
      await a.kill();
      await untilSo(
        'it is offline',
        async () => (await statusAt(b)) === 'offline' && (await statusAt(c)) === 'offline',
      );
      const refused = await b.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } });
      expect(refused).toMatchObject({
        status: 503,
        body: { error: { code: 'AGENT_UNAVAILABLE', agentId: agent.id, alternatives: [{ agentId: substitute.id }] } },
      });
      const instead = await b.request('POST', `/invoke/${agent.id}`, {
        key: client.key,
        body: { task: 'sing', fallback: true, maxCost: '0.05' },
        headers: { 'x-sync': 'true' },
      });
      expect(instead.body.data).toMatchObject({ agentId: substitute.id, requestedAgentId: agent.id });
      gate.resolve();
      await a.revive();
      await Promise.all([online(b), online(c)]);
      const ends = await Promise.all([
        untilEnded(b, client.key, ofB.requestId),
        untilEnded(c, payer.key, String(ofC.requestId)),
      ]);
      for (const end of ends) expect(end).toMatchObject({ status: 'completed', cost: '0.05' });
    });
    // The alternative was paid at B as well.
    expect(change).toEqual({ treasury: -2n * PRICE, wallet: -PRICE, earned: 2n * PRICE });
    // An agent tells by its Idempotency-Key that it is asked again for what it was asked for.
    const keys = (task: string) =>
      new Set(agent.calls.filter(({ body }) => body.task === task).map(({ headers }) => headers['idempotency-key']))
        .size;
    expect([keys('kill b'), keys('kill c')]).toEqual([1, 1]);
  });

  it('owes what it was paid for and did not do until it is back', async () => {
    agent.behave(() => undefined);
    const change = await moved(async () => {
      const late: [Harness, key: string, requestId: string][] = [];
      /** A busy machine has not both at work before the deadline: the next two get more time. */
      const putToWork = async (leftMs: number): Promise<{ ofB: string; ofC: string }> => {
        const deadline = new Date(Date.now() + leftMs).toISOString();
        const tasks = [`late b ${leftMs}`, `late c ${leftMs}`] as const;
        const [atB, atC] = await Promise.all([
          byTreasury({ task: tasks[0], deadline }),
          byStockClient({ task: tasks[1], deadline, webhookUrl: noHook }).then(dataOf),
        ]);
        const areAtWork = async () => (callsOf(tasks[0]) + callsOf(tasks[1]) === 2 ? true : null);
        const isInTime = await until(areAtWork, { timeoutMs: leftMs, firstMs: 20, maxMs: 100 });
        if (isInTime) return { ofB: atB.requestId, ofC: String(atC.requestId) };
        // A call whose deadline has passed when it comes is refused, without a record.
        if (atB) late.push([b, client.key, atB.requestId]);
        if (atC) late.push([c, payer.key, String(atC.requestId)]);
        return putToWork(2 * leftMs);
      };
      const { ofB, ofC } = await putToWork(3000);
      await a.kill();
      const ends = await Promise.all([untilEnded(b, client.key, ofB), untilEnded(c, payer.key, ofC)]);
      for (const end of ends) expect(end).toMatchObject({ status: 'failed', cost: '0.05', refund: '0.00' });
      await a.revive();
      const back = { cost: '0.00', refund: '0.05', refundExpected: null };
      await Promise.all([untilRecord(b, client.key, ofB, back), untilRecord(c, payer.key, ofC, back)]);
      // These may have ended before they were paid.
      for (const call of late) await untilRecord(...call, { cost: '0.00', refundExpected: null });
    });
    expect(change).toEqual({ treasury: 0n, wallet: 0n, earned: 0n });
  });
});

it('in the end no reserves have a difference', async () => {
  await expectEven();
  for (const node of [a, b, c]) {
    const { data } = (await node.request('GET', '/payments/reserves')).body;
    expect(data).toMatchObject({ difference: '0.00', loss: '0.00', status: 'balanced' });
  }
});
