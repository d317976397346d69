import { scopes } from '@agent-network/contracts/access/scopes';
import type { OperatorInvocation } from '@agent-network/contracts/network/operator-invocation';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/lib/telemetry/log.ts';
import { startReceiver } from '../events/support/receiver.ts';
import { beforeDeadline } from '../support/deadline.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { type Client, newClient, untilEnded } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

const SECRET_TASK = 'a task that nobody else reads';
const refuse = answerWith(500, { error: { message: 'no' } });
const sync = { 'x-sync': 'true' };

let h: Harness;
let operator: TestAccount;
let client: Client;
let agent: TestAgent;
let cheap: TestAgent;
const lines: string[] = [];
beforeAll(async () => {
  const log = createLog({ level: 'info', destination: { write: (line: string) => void lines.push(line) } });
  h = await startHarness({ log, env: { MIN_REFUND: '0.03' } });
  operator = await h.newAccount({ scopes: ['operator'] });
  client = await newClient(h, '5');
  agent = await startTestAgent(h, { perRequest: '0.05' });
  cheap = await startTestAgent(h, { perRequest: '0.02', behaviour: refuse });
});
afterAll(async () => {
  await Promise.all([agent.die(), cheap.die()]);
  await h.stop();
});

const invoke = (headers: Record<string, string> = sync, more: object = {}, to = agent, key = client.key) =>
  h.request('POST', `/invoke/${to.id}`, { key, body: { task: SECRET_TASK, ...more }, headers });

async function paidCall(to: TestAgent, priceMicro: bigint) {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(priceMicro);
  const { data } = (await invoke(await payV2(h, wallet, await invoke({}, {}, to, key)), {}, to, key)).body;
  return { requestId: data.requestId as string, payer: wallet.address.toLowerCase() };
}

async function look(id: string): Promise<OperatorInvocation> {
  const { status, body } = await h.request('GET', `/operator/invocations/${id}`, { key: operator.key });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

const lookUntil = (id: string, isDone: (seen: OperatorInvocation) => boolean): Promise<OperatorInvocation> =>
  until(async () => {
    const seen = await look(id);
    return isDone(seen) ? seen : null;
  });

const eventsOf = ({ timeline }: OperatorInvocation) => timeline.map(({ event }) => event);
const endsOf = (id: string) =>
  lines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'invocation ended' && line.requestId === id);

describe('an operator sees why an invocation was refunded and where the money went', () => {
  it('into the treasury that had paid, when the agent failed, with the webhook that told of it', async () => {
    const receiver = await startReceiver();
    agent.behave(refuse);
    const { requestId } = (await invoke(sync, { webhookUrl: receiver.url })).body.data;
    const seen = await lookUntil(requestId, (each) => eventsOf(each).includes('webhook_delivered'));
    expect(seen).toMatchObject({
      ...{ status: 'failed', reason: 'agent_error', accountId: client.accountId, agentId: agent.id, attempts: 1 },
      ...{ paymentMethod: 'treasury', payer: client.treasuryId, price: '0.05', cost: '0.00', payments: [] },
    });
    expect(seen.refund).toMatchObject({
      amount: '0.05',
      parts: [{ way: 'treasury', amount: '0.05', state: 'settled', to: client.treasuryId, transactionHash: null }],
    });
    expect(eventsOf(seen)).toEqual(['created', 'held', 'started', 'failed', 'released', 'webhook_delivered']);
    expect(seen.deliveries).toMatchObject([{ type: 'invocation.failed', state: 'delivered', attempts: 1 }]);
    expect(seen.queues.map(({ kind }) => kind)).toContain('money_to_audit');
    expect(JSON.stringify(seen)).not.toContain(SECRET_TASK);
  });

  it('to the wallet that had paid by x402, in a transaction of the chain', async () => {
    agent.behave(refuse);
    const { requestId, payer } = await paidCall(agent, 50_000n);
    const seen = await lookUntil(requestId, (each) => eventsOf(each).includes('refund_settled'));
    const refund = seen.payments.find(({ purpose }) => purpose === 'refund');
    expect(seen).toMatchObject({ reason: 'agent_error', paymentMethod: 'x402', payer: `payer:${payer}`, cost: '0.00' });
    expect(seen.refund?.parts).toEqual([
      {
        ...{ way: 'on_chain', amount: '0.05', state: 'settled', to: payer },
        ...{ transactionHash: refund?.transactionHash, at: refund?.endedAt },
      },
    ]);
    expect(refund).toMatchObject({ direction: 'out', state: 'settled', from: h.ctx.chain.wallet, to: payer });
    expect(await h.usdcOf(payer)).toBe(50_000n);
    expect(seen.payments.map(({ purpose, state }) => [purpose, state])).toEqual([
      ['invocation', 'settled'],
      ['refund', 'settled'],
    ]);
    expect(seen.transfers.map(({ kind }) => kind).toSorted()).toEqual(['deposit', 'payout', 'refund']);
    expect(endsOf(requestId)).toMatchObject([{ refundWay: 'on_chain', refundMicro: '50000' }]);
  });

  it('credited here, when it is not worth its gas', async () => {
    const { requestId, payer } = await paidCall(cheap, 20_000n);
    const seen = await look(requestId);
    const credit = seen.transfers.find(({ kind }) => kind === 'refund')?.credit;
    expect(credit).not.toBe(payer);
    expect(seen.refund?.parts).toMatchObject([
      { way: 'credited', amount: '0.02', state: 'settled', to: credit, transactionHash: null },
    ]);
    expect(eventsOf(seen)).toContain('refund_credited');
    expect(eventsOf(seen)).not.toContain('refund_settled');
    expect(endsOf(requestId)).toMatchObject([{ refundWay: 'credited' }]);
  });

  it('when its caller cancelled it', async () => {
    const came = Promise.withResolvers<void>();
    agent.behave(() => came.resolve());
    const { requestId } = (await invoke({})).body.data;
    await came.promise;
    expect(await look(requestId)).toMatchObject({ status: 'processing', reason: null, refund: null, cost: null });
    expect((await look(requestId)).queues.map(({ kind }) => kind)).toContain('hold_open');
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    const seen = await look(requestId);
    expect(seen).toMatchObject({ status: 'cancelled', reason: 'cancelled_by_caller', refund: { amount: '0.05' } });
    expect(eventsOf(seen)).toEqual(['created', 'held', 'started', 'cancelled', 'released']);
  });

  it('when the bulk request that it was part of was decided without it', async () => {
    const other = await startTestAgent(h, { perRequest: '0.05', behaviour: echo });
    agent.behave(() => undefined);
    const body = { task: 'x', agents: [agent.id, other.id], strategy: 'first_success' };
    const { requests } = (await h.request('POST', '/invoke/bulk', { key: client.key, body })).body.data;
    const idOf = (agentId: string) => requests.find((each: { agentId: string }) => each.agentId === agentId).requestId;
    await untilEnded(h, client.key, idOf(agent.id));
    expect(await look(idOf(agent.id))).toMatchObject({ reason: 'bulk_decided', refund: { amount: '0.05' } });
    expect(await look(idOf(other.id))).toMatchObject({ reason: null, refund: { amount: '0.00', parts: [] } });
    expect([endsOf(idOf(agent.id)).length, endsOf(idOf(other.id)).length]).toEqual([1, 1]);
    await other.die();
  });

  it('when its deadline passed', async () => {
    agent.behave(() => undefined);
    const begin = async (deadline: string) => (await invoke({}, { deadline })).body.data ?? null;
    const { requestId, deadline } = await beforeDeadline(700, begin);
    await untilEnded(h, client.key, requestId);
    expect(await look(requestId)).toMatchObject({ status: 'failed', reason: 'deadline_exceeded', deadline });
  });

  it('in part, when the agent took less than its price', async () => {
    agent.behave(answerWith(200, { result: 1, cost: '0.02' }));
    const { requestId } = (await invoke()).body.data;
    const seen = await look(requestId);
    expect(seen).toMatchObject({ status: 'completed', reason: 'cost_below_price', cost: '0.02' });
    expect(seen.refund).toMatchObject({ amount: '0.03', parts: [{ way: 'treasury', amount: '0.03' }] });
    expect(seen.transfers).toMatchObject([{ kind: 'charge', debit: client.treasuryId, amount: '0.02' }]);
  });
});

describe('nobody else sees it', () => {
  it('not the caller, the agent, or any key without the scope operator', async () => {
    agent.behave(echo);
    const most = await h.newAccount({ scopes: scopes.filter((scope) => scope !== 'operator') });
    const { requestId } = (await invoke(sync, {}, agent, client.key)).body.data;
    for (const [key, status] of [
      [most.key, 403],
      [agent.identityToken, 403],
      [undefined, 401],
    ] as const)
      expect((await h.request('GET', `/operator/invocations/${requestId}`, { key })).status).toBe(status);
  });

  it('and of an id that no invocation has, an operator sees NOT_FOUND', async () => {
    const answer = await h.request('GET', '/operator/invocations/req_00000000000000000000000000', {
      key: operator.key,
    });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
  });
});

describe('every invocation that ends is logged once', () => {
  it('with its reason and money, and nothing of what was asked or answered', async () => {
    agent.behave(answerWith(500, { error: { message: 'words of the agent' } }));
    const { requestId, error } = (await invoke()).body.data;
    expect(error.message).toContain('words of the agent');
    const [line, ...more] = endsOf(requestId);
    expect(more).toEqual([]);
    expect(line).toEqual({
      ...{ level: 'info', time: expect.any(String), msg: 'invocation ended', requestId, agentId: agent.id },
      ...{ accountId: client.accountId, status: 'failed', reason: 'agent_error', costMicro: '0', refundMicro: '50000' },
      ...{ refundWay: 'treasury', durationMs: expect.any(Number), attempt: 1 },
    });
    expect(lines.join('')).not.toContain(SECRET_TASK);
  });

  it('also when its process seemed to be gone, another took it over, and both came to an end', async () => {
    const calls: (() => void)[] = [];
    const called = Promise.withResolvers<void>();
    agent.behave((request, response) => {
      if (calls.push(() => echo(request, response)) === 1) called.resolve();
      else echo(request, response);
    });
    const { requestId } = (await invoke({})).body.data;
    await called.promise;
    // What a process that takes it over raises, so that the first one's end is no more; it goes on from long ago.
    const takeOver = `update invocation set worker = null, attempt = attempt + 1, started_at = now() - interval '1 minute'
                       where id = $1`;
    await h.ctx.db.query('take-over', takeOver, [requestId]);
    const firstRun = h.ctx.runner.ending(requestId);
    calls[0]?.();
    await firstRun;
    expect(endsOf(requestId)).toEqual([]);
    await untilEnded(h, client.key, requestId);
    const { attempts } = await look(requestId);
    expect(attempts).toBeGreaterThan(1);
    expect(endsOf(requestId)).toMatchObject([{ status: 'completed', reason: null, attempt: attempts }]);
  });

  it('also when it ended as it was stored: a bulk request with an offline agent', async () => {
    const gone = await startTestAgent(h, { perRequest: '0.05', provesItself: false });
    agent.behave(echo);
    const body = { task: 'x', agents: [gone.id, agent.id], strategy: 'all' };
    const { requests } = (await h.request('POST', '/invoke/bulk', { key: client.key, body })).body.data;
    const { requestId } = requests.find((each: { agentId: string }) => each.agentId === gone.id);
    expect(endsOf(requestId)).toMatchObject([{ reason: 'agent_unreachable', refundMicro: '0', refundWay: 'none' }]);
    await gone.die();
  });
});
