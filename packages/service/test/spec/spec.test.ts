import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../http/api/support/world.ts';
import { type Answer, send } from '../support/harness.ts';
import { type Behaviour, startTestAgent, type TestAgent, untilStatus } from '../support/test-agent.ts';
import { deposit, newClient, untilEnded } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';
import { misfits } from './support/shape.ts';
import {
  agentToAgent,
  calls,
  capAliases,
  created,
  errors,
  limits,
  removal,
  requestRecord,
  type SpecCall,
} from './support/spec-tables.ts';

let world: World;
let paid: TestAgent;
let other: TestAgent;
/** Has never proven itself, and has no money. */
let poor: TestAgent;
/** What `{…}` stands for. */
let things: Record<string, string>;

beforeAll(async () => {
  world = await startWorld();
  const { h, owner } = world;
  const { key } = owner;
  [paid, other] = await Promise.all([
    startTestAgent(h, { owner, perRequest: '0.05' }),
    startTestAgent(h, { owner, perRequest: '0.05' }),
  ]);
  const body = { task: 'paid on chain' };
  const unpaid = await h.request('POST', `/invoke/${paid.id}`, { key, body });
  const headers = await payV2(h, await h.newWallet(), unpaid);
  const record = await h.request('POST', `/invoke/${paid.id}`, { key, body, headers });
  const treasury = await h.request('POST', '/payments/treasury', { key, body: {} });
  await deposit(h, key, treasury.body.data.treasuryId, '10');
  const { quoteId } = (await h.request('POST', `/invoke/${paid.id}/quote`, { key, body: { task: 'x' } })).body.data;
  poor = await startTestAgent(h, { owner, provesItself: false });
  things = {
    ...{ agent: paid.id, other: other.id, endpoint: paid.endpoint, quote: quoteId, receiver: world.receiverUrl },
    ...{ paidRequest: record.body.data.requestId, openRequest: world.openRequestId },
    deadline: new Date(Date.now() + 600_000).toISOString(),
    today: new Date().toISOString().slice(0, 10),
  };
});
afterAll(async () => {
  await Promise.all([paid, other, poor].map((agent) => agent.die()));
  await world.stop();
});

const fillIn = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => things[name] ?? whole);

function call({ method, path, body, headers }: Omit<SpecCall, 'data'>, key = world.owner.key): Promise<Answer> {
  const text = body === undefined ? undefined : fillIn(JSON.stringify(body));
  return send(world.h.baseUrl, method, fillIn(path), {
    key,
    ...(text === undefined ? {} : { text }),
    headers: headers ?? {},
  });
}

function expectLimitHeaders({ headers }: Answer, isInvocation: boolean): void {
  for (const name of ['limit', 'remaining', 'reset']) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
  expect(headers.get('x-ratelimit-type')).toBe(isInvocation ? 'invocations' : null);
}

describe('table "Endpoints"', () => {
  it.each([...calls, removal])('$method $path answers the fields of the spec', async (each) => {
    const answer = await call(each);
    expect({ status: answer.status, envelope: answer.body.status, body: answer.body }).toMatchObject({
      status: 200,
      envelope: 'success',
    });
    expect(Object.keys(answer.body).sort()).toEqual(['data', 'status']);
    expect(misfits(answer.body.data, each.data)).toEqual([]);
    expectLimitHeaders(answer, /^\/invoke\/(\{agent\}|bulk)(\?|$)/.test(each.path) && each.method === 'POST');
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  it('the lists take a limit of at most 100', async () => {
    for (const path of ['/agents', '/invoke/history']) {
      expect((await call({ method: 'GET', path: `${path}?limit=100` })).status).toBe(200);
      expect((await call({ method: 'GET', path: `${path}?limit=101` })).status).toBe(400);
    }
  });

  it.each(capAliases)('%s caps what a call may cost', async (name) => {
    const invoke = (cap: string) => call({ method: 'POST', path: '/invoke/{agent}', body: { task: 'x', [name]: cap } });
    expect([(await invoke('0.04')).status, (await invoke('0.05')).status]).toEqual([400, 200]);
  });

  it('an agent that calls another gets the agent-to-agent form', async () => {
    const free = world.strangersAgent.id;
    const answer = await call(
      {
        method: 'POST',
        path: `/invoke/${free}`,
        body: { task: 'x', context: 'c', max_spend: '1' },
        headers: { 'x-sync': 'true' },
      },
      world.agent.identityToken,
    );
    expect(misfits(answer.body.data, agentToAgent)).toEqual([]);
  });

  it('streaming is asked for by stream: true with Accept: text/event-stream', async () => {
    const response = await fetch(`${world.h.baseUrl}/invoke/${world.strangersAgent.id}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.owner.key}`,
        accept: 'text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ task: 'x', stream: true }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toMatch(/event: invocation\.completed\ndata: \{.*\}\n\n$/);
  });
});

describe('table "States and transitions"', () => {
  it('an agent: pending_verification → online ⇄ offline → removed', async () => {
    const { h, owner } = world;
    const agent = await startTestAgent(h, { owner });
    const statusOf = async () =>
      (await call({ method: 'GET', path: `/agents/${agent.id}` })).body.data?.status ?? 'removed';
    expect(await statusOf()).toBe('online');
    const beat = (accepting: boolean) =>
      call({ method: 'POST', path: `/agents/${agent.id}/heartbeat`, body: { accepting } }, agent.identityToken);
    await beat(false);
    await untilStatus(h, agent.id, 'offline');
    await call({ method: 'DELETE', path: `/agents/${agent.id}` });
    expect(await statusOf()).toBe('removed');
    await agent.die();
  });

  it('a request: processing → completed, failed, cancelled; only the open ones can be cancelled', async () => {
    const { h, owner } = world;
    const cancel = (id: string) => call({ method: 'POST', path: `/invoke/${id}/cancel` });
    const gate = Promise.withResolvers<void>();
    const failsLater: Behaviour = (_request, response) => void gate.promise.then(() => response.writeHead(500).end());
    const agent = await startTestAgent(h, { owner, perRequest: '0.05', behaviour: failsLater });
    const invoke = async () =>
      (await call({ method: 'POST', path: `/invoke/${agent.id}`, body: { task: 'x' } })).body.data;
    const [failing, cancelled] = [await invoke(), await invoke()];
    expect([misfits(failing, created), failing.status]).toEqual([[], 'processing']);
    expect((await cancel(cancelled.requestId)).body.data).toMatchObject({ cancelled: true, refund: '0.05' });
    gate.resolve();
    const ended = [
      await untilEnded(h, owner.key, failing.requestId),
      await untilEnded(h, owner.key, cancelled.requestId),
    ];
    expect(ended.map(({ status }) => status)).toEqual(['failed', 'cancelled']);
    expect(misfits((await call({ method: 'GET', path: '/invoke/{paidRequest}' })).body.data, requestRecord)).toEqual(
      [],
    );
    for (const id of [failing.requestId, cancelled.requestId, things.paidRequest])
      expect((await cancel(id ?? '')).status).toBe(409);
    await agent.die();
  });
});

describe('tables "Errors"', () => {
  const invokeAs = (key: string, id = things.agent, headers = {}) =>
    call({ method: 'POST', path: `/invoke/${id}`, body: { task: 'x' }, headers }, key);
  const provoke: Record<string, () => Promise<Answer>> = {
    validation: () => call({ method: 'POST', path: '/invoke/{agent}', body: {} }),
    unauthorized: () => call({ method: 'GET', path: '/payments/balance' }, 'nonsense'),
    paymentRequired: async () => invokeAs((await world.h.newAccount()).key),
    notFound: () => call({ method: 'GET', path: '/agents/agt_nothing' }),
    insufficientFunds: async () => invokeAs((await newClient(world.h, '0.01')).key),
    insufficientBalance: () => invokeAs(poor.identityToken),
    rateLimited: async () => {
      const { key } = await world.h.newAccount({ plan: 'free' });
      for (let count = 0; count < 100; count++) await call({ method: 'GET', path: '/account' }, key);
      return call({ method: 'GET', path: '/account' }, key);
    },
    agentUnavailable: () => invokeAs(world.owner.key, poor.id),
  };

  it.each(Object.entries(errors))('%s', async (name, { status, error }) => {
    const answer = await (provoke[name] as () => Promise<Answer>)();
    expect([answer.status, answer.body.status]).toEqual([status, 'error']);
    expect(misfits(answer.body.error, error, 'error')).toEqual([]);
  });
});

describe('table "Limits"', () => {
  it.each(limits)('$plan: $api requests and $invocations invocations an hour', async ({ plan, api, invocations }) => {
    const { key } = await world.h.newAccount({ plan });
    const account = await call({ method: 'GET', path: '/account' }, key);
    expect(account.headers.get('x-ratelimit-limit')).toBe(String(api));
    const invoked = await call(
      { method: 'POST', path: `/invoke/${world.strangersAgent.id}`, body: { task: 'x' } },
      key,
    );
    const { headers } = invoked;
    expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
      `${invocations}`,
      `${invocations - 1}`,
    ]);
    expect(Number(headers.get('x-ratelimit-reset')) - Date.now() / 1000).toBeGreaterThan(3500);
    expectLimitHeaders(invoked, true);
  });
});
