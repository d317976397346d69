import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_VERSION } from '../../../src/lib/process/node-version.ts';
import { startReceiver } from '../../events/support/receiver.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';

let h: Harness;
let owner: Client;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await startHarness();
  owner = await newClient(h, '0.01');
  agent = await startTestAgent(h, { owner, perRequest: '0.05', name: 'Counter', capabilities: ['counting'] });
  client = await newClient(h, '5');
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const get = async (key: string | undefined, path: string) => {
  const { status, body } = await h.request('GET', path, { key });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};
const invoke = (key: string, headers: Record<string, string> = { 'x-sync': 'true' }, more: object = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x', ...more }, headers });
const eventsOf = (detail: { timeline: { event: string }[] }) => detail.timeline.map(({ event }) => event);

describe('the detail of a request', () => {
  it('is included on request, and the rest of the record is unchanged', async () => {
    const { requestId } = (await invoke(client.key, { 'x-sync': 'true' }, { input: { a: 1 }, context: 'c' })).body.data;
    const plain = await get(client.key, `/invoke/${requestId}`);
    expect(plain.detail).toBeUndefined();
    const { detail, ...record } = await get(client.key, `/invoke/${requestId}?detail=true`);
    expect(record).toEqual(plain);
    expect(detail).toMatchObject({ input: { a: 1 }, context: 'c', price: '0.05', attempts: 1, callerAgentId: null });
    expect(eventsOf(detail)).toEqual(['created', 'started', 'completed']);
  });

  it('has the payment on chain and what went back of it, in order, with transactions', async () => {
    const { key } = await h.newAccount();
    agent.behave(answerWith(500, { error: { message: 'no' } }));
    const paid = (await invoke(key, await payV2(h, await h.newWallet(50_000n), await invoke(key)))).body.data;
    agent.behave(echo);
    const whole = async () => {
      const { detail } = await get(key, `/invoke/${paid.requestId}?detail=true`);
      return eventsOf(detail).includes('refund_settled') ? detail : null;
    };
    const detail = await until(whole);
    expect(eventsOf(detail).toSorted()).toEqual(
      [
        'created',
        'payment_shown',
        'payment_settled',
        'started',
        'failed',
        'refund_signed',
        'refund_settled',
      ].toSorted(),
    );
    const at = detail.timeline.map((each: { at: string }) => each.at);
    expect(at).toEqual([...at].sort());
    const settled = detail.timeline.find((each: { event: string }) => each.event === 'payment_settled');
    expect(settled).toMatchObject({ amount: '0.05', transactionHash: paid.paymentHash });
    expect(detail.timeline.at(-1)).toMatchObject({ event: 'refund_settled', amount: '0.05' });
  });

  it('of another account is not found', async () => {
    const { requestId } = (await invoke(client.key)).body.data;
    const { key } = await h.newAccount();
    expect((await h.request('GET', `/invoke/${requestId}?detail=true`, { key })).status).toBe(404);
  });
});

it('the history says whom, how paid, what came back and why it failed', async () => {
  agent.behave(answerWith(500, { error: { message: 'no' } }));
  const { requestId, completedAt } = (await invoke(client.key)).body.data;
  agent.behave(echo);
  const [newest] = (await get(client.key, '/invoke/history?limit=1')).requests;
  expect(newest).toMatchObject({
    ...{ requestId, agentName: 'Counter', paymentMethod: 'treasury', refund: '0.05', completedAt },
    ...{ errorCode: 'agent_error', bulkId: null },
  });
  const { bulkId, requests } = (
    await h.request('POST', '/invoke/bulk', { key: client.key, body: { task: 'x', agents: [agent.id] } })
  ).body.data;
  const ofBulk = await get(client.key, `/invoke/history?bulkId=${bulkId}`);
  expect(ofBulk).toMatchObject({ total: 1, requests: [{ requestId: requests[0].requestId, bulkId }] });
});

describe('payments of one type', () => {
  it('are those of all that have it, with the same total, and with where the money went', async () => {
    const to = (await h.newWallet(0n)).address.toLowerCase();
    const body = { amount: '0.01', treasuryId: client.treasuryId, to };
    const { withdrawalId } = (await h.request('POST', '/payments/withdraw', { key: client.key, body })).body.data;
    const all = (await get(client.key, '/payments/history?limit=100')).payments;
    for (const type of ['deposit', 'charge', 'earning', 'refund', 'x402', 'withdrawal']) {
      const { payments, total } = await get(client.key, `/payments/history?limit=100&type=${type}`);
      const same = all.filter((each: { type: string }) => each.type === type);
      expect(payments.map((each: { paymentId: string }) => each.paymentId)).toEqual(
        same.map((each: { paymentId: string }) => each.paymentId),
      );
      expect(total).toBe(same.length);
    }
    const [withdrawal] = (await get(client.key, '/payments/history?type=withdrawal')).payments;
    expect(withdrawal).toMatchObject({ withdrawalId, treasuryId: client.treasuryId, amount: '0.01' });
    expect(withdrawal.counterparty.toLowerCase()).toBe(to);
    const [charge] = (await get(client.key, '/payments/history?type=charge')).payments;
    expect(charge).toMatchObject({ treasuryId: client.treasuryId, counterparty: agent.id });
  });
});

describe('deliveries', () => {
  it('have numbered attempts with bodies and answers, and are found by id, event and type', async () => {
    const receiver = await startReceiver();
    const { webhookId } = (
      await h.request('POST', '/account/webhooks', { key: client.key, body: { url: receiver.url } })
    ).body.data;
    const tested = (await h.request('POST', `/account/webhooks/${webhookId}/test`, { key: client.key })).body.data;
    await h.request('POST', `/account/webhooks/${webhookId}/test`, { key: client.key });
    expect(tested).toMatchObject({ webhookId, attempts: [{ number: 1, status: 200 }] });
    const path = `/account/webhooks/${webhookId}/deliveries`;
    for (const query of [`deliveryId=${tested.deliveryId}`, `eventId=${tested.eventId}`])
      expect(await get(client.key, `${path}?${query}`)).toMatchObject({ total: 1, deliveries: [tested] });
    expect(await get(client.key, `${path}?type=webhook.test`)).toMatchObject({ total: 2 });
    expect(await get(client.key, `${path}?type=agent.removed`)).toMatchObject({ total: 0, deliveries: [] });
    const { webhooks } = await get(client.key, '/account/webhooks');
    expect(webhooks[0]).toMatchObject({ failingSince: null, pausedUntil: null });
  });
});

describe('own agents', () => {
  it('are listed whatever their state, newest first, page by page, with what they hold and earned', async () => {
    const account = await newClient(h, '0.01');
    const online = await startTestAgent(h, { owner: account, perRequest: '0.05' });
    const pending = await startTestAgent(h, { owner: account, provesItself: false });
    const paying = { key: client.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
    await h.request('POST', `/invoke/${online.id}`, paying);
    online.behave(answerWith(500, { error: { message: 'no' } }));
    await h.request('POST', `/invoke/${online.id}`, paying);
    const { agents, total } = await get(account.key, '/account/agents');
    expect(total).toBe(2);
    expect(agents.map(({ id }: { id: string }) => id)).toEqual([pending.id, online.id]);
    expect(agents[0]).toMatchObject({
      ...{ status: 'pending_verification', calls7: 0, earned: { today: '0.00', days7: '0.00', days30: '0.00' } },
      verification: { endpointProvenAt: null, tokenId: null },
    });
    expect(agents[1]).toMatchObject({
      ...{ status: 'online', calls7: 2, failures7: 1, balance: { available: '0.05', held: '0.00' } },
      ...{ earned: { today: '0.05', days7: '0.05', days30: '0.05' } },
    });
    expect(agents[1].verification.endpointProvenAt).not.toBeNull();
    const first = await get(account.key, '/account/agents?limit=1');
    expect(first).toMatchObject({ total: 2, hasMore: true, agents: [{ id: pending.id }] });
    const second = await get(account.key, `/account/agents?limit=1&cursor=${first.nextCursor}`);
    expect(second).toMatchObject({ total: 2, hasMore: false, nextCursor: null, agents: [{ id: online.id }] });
    const only = (id: string, key = account.key) => get(key, `/account/agents?agentId=${id}`);
    expect(await only(online.id)).toMatchObject({ total: 1, hasMore: false, agents: [{ id: online.id, calls7: 2 }] });
    expect(await only(online.id, client.key)).toMatchObject({ total: 0, agents: [] });
    await Promise.all([online.die(), pending.die()]);
  });
});

describe('the health of an agent', () => {
  it('is what its checks were, by hour and by day, without gaps', async () => {
    // Due again if a check that was under way has set a later time; one that has begun is due within 30 s.
    const checkedUntil = async (isSeen: (health: { checks: number; failed: number }) => boolean) => {
      const sql = "update agent set next_check_at = now() where id = $1 and next_check_at > now() + interval '30 s'";
      await h.ctx.db.query('check-now', sql, [agent.id]);
      h.ctx.agentChecks.requestRun();
      return isSeen(await get(undefined, `/agents/${agent.id}/health`));
    };
    await until(() => checkedUntil(({ checks }) => checks > 0));
    await agent.die();
    await until(() => checkedUntil(({ failed }) => failed > 0));
    await agent.revive();
    for (const days of [1, 7, 30]) {
      const health = await get(undefined, `/agents/${agent.id}/health?days=${days}`);
      expect(health.uptime).toBe((health.checks - health.failed) / health.checks);
      expect(health.p50Ms).toBeGreaterThan(0);
      expect(health.buckets).toHaveLength(days === 1 ? new Date().getUTCHours() + 1 : days);
      const sum = health.buckets.reduce((total: number, { checks }: { checks: number }) => total + checks, 0);
      expect(sum).toBe(health.checks);
      expect(health.buckets[0].uptime).toBe(health.buckets[0].checks === 0 ? null : health.uptime);
    }
    expect((await h.request('GET', '/agents/agt_none/health')).status).toBe(404);
  });
});

it('alternatives are those that an error would name, as lists show them', async () => {
  const twin = await startTestAgent(h, { perRequest: '0.05', name: 'Counter too', capabilities: ['counting'] });
  const { agents } = await get(undefined, `/agents/${agent.id}/alternatives`);
  expect(agents[0]).toMatchObject({ id: twin.id, name: 'Counter too', status: 'online' });
  expect(agents[0].similarity).toBeGreaterThan(0.7);
  const { agents: listed } = await get(undefined, '/agents?capability=counting');
  const { similarity, ...shown } = agents[0];
  expect(listed).toContainEqual(shown);
  await twin.die();
});

describe('the status of the node', () => {
  it('has its processes, queues, settlements, reserves, signers, index and database', async () => {
    const { key } = await h.newAccount();
    const status = await get(key, '/operator/status');
    expect(status.processes).toHaveLength(1);
    expect(status.processes[0]).toMatchObject({
      processId: h.ctx.processId(),
      isThis: true,
      version: NODE_VERSION,
      drainingSince: null,
    });
    expect(status.signers.map(({ address }: { address: string }) => address)).toEqual(
      h.ctx.senders.map(({ address }) => address),
    );
    expect(BigInt(status.signers[0].gasWei)).toBeGreaterThan(0n);
    expect(status.reserves.status).not.toBe('drift');
    expect(status.database.sizeBytes).toBeGreaterThan(1_000_000);
    expect(status.index.chainId).toBe(h.ctx.chain.chainId);
    const told = async () =>
      (await get(key, '/operator/status')).processes[0].eventLoopDelayMs === null ? null : true;
    await until(told);
  });

  it('counts what is open, and since when', async () => {
    const { key } = await h.newAccount();
    agent.behave(() => undefined);
    const { requestId } = (await invoke(client.key, {})).body.data;
    const queueOf = async () => {
      const { queues } = await get(key, '/operator/status');
      return queues.find(({ kind }: { kind: string }) => kind === 'invocations_open');
    };
    expect(await queueOf()).toMatchObject({ depth: 1 });
    expect((await queueOf()).oldestS).toBeGreaterThanOrEqual(0);
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    expect(await queueOf()).toMatchObject({ depth: 0, oldestS: null });
    agent.behave(echo);
  });

  it('is for operators', async () => {
    const { key } = await h.newAccount({ scopes: ['payments:read', 'keys:manage'] });
    expect((await h.request('GET', '/operator/status', { key })).status).toBe(403);
  });
});
