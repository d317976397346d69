import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { contradictions } from '../../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { newVoucherPayer } from '../../support/voucher-payer.ts';
import { payV2, whenSettled } from '../../support/x402-payer.ts';

/** Eight places on each side: an account has two, an agent four; three requests of an account may wait. */
const env = { MAX_RUNNING: '8', MAX_WAITING_PER_ACCOUNT: '3', CHANNELS: 'true' };
let h: Harness;
const agents: TestAgent[] = [];
beforeAll(async () => {
  h = await startHarness({ env, syncWaitMs: 100 });
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

async function newAgent(perRequest = '0'): Promise<TestAgent> {
  const agent = await startTestAgent(h, { perRequest });
  agents.push(agent);
  return agent;
}

/** An agent that answers when it is let go, and the tasks in the order in which they came. */
async function newHeldAgent(perRequest = '0') {
  const agent = await newAgent(perRequest);
  const gate = Promise.withResolvers<void>();
  const open: (() => void)[] = [];
  agent.behave(async ({ body }, response) => {
    const own = Promise.withResolvers<void>();
    open.push(own.resolve);
    await Promise.race([gate.promise, own.promise]);
    answerWith(200, { result: body.task })({ headers: {}, body: null }, response);
  });
  // A test that fails leaves the next one its places.
  onTestFinished(() => gate.resolve());
  return { agent, letAllGo: gate.resolve, letOneGo: () => open.shift()?.() };
}

const sync = { 'x-sync': 'true' };
const call = (agent: { id: string }, { key }: { key: string }, task: string, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task }, headers });
const untilCalled = async (agent: TestAgent, count: number) => {
  const isThere = async () => agent.calls.length >= count;
  await until(isThere);
};
const endOf = (account: TestAccount | { key: string }, { body }: { body: { data: { requestId: string } } }) =>
  untilEnded(h, account.key, body.data.requestId);

describe('places to run', () => {
  it.each([
    ['awaited calls', sync],
    ['calls that nobody waits for', {}],
  ])('one account with %s of a hanging agent leaves others theirs, at once', async (_, headers) => {
    const [held, other] = [await newHeldAgent(), await newAgent()];
    const [attacker, user] = [await h.newAccount(), await h.newAccount()];
    const calls = await Promise.all(Array.from({ length: 12 }, () => call(held.agent, attacker, 'hang', headers)));
    const taken = calls.filter(({ status }) => status === 200);
    expect(taken.length).toBeLessThanOrEqual(5);
    expect(calls.length - taken.length).toBe(calls.filter(({ status }) => status === 429).length);
    const began = await call(other, user, 'mine');
    expect(await endOf(user, began)).toMatchObject({ status: 'completed' });
    expect((await call(other, user, 'awaited', sync)).body.data).toMatchObject({ status: 'completed' });
    expect(held.agent.calls).toHaveLength(2);
    held.letAllGo();
    for (const each of taken) await endOf(attacker, each);
  });

  it('an agent that hangs has half of them, whoever calls it: other agents are called', async () => {
    const [held, other] = [await newHeldAgent(), await newAgent()];
    const accounts = await Promise.all(Array.from({ length: 6 }, () => h.newAccount()));
    const hang = (some: readonly TestAccount[]) =>
      Promise.all(some.flatMap((each) => [1, 2].map(() => call(held.agent, each, 'hang'))));
    const calls = await hang(accounts.slice(0, 2));
    await untilCalled(held.agent, 4);
    calls.push(...(await hang(accounts.slice(2))));
    const began = await call(other, accounts[5] as TestAccount, 'mine');
    expect(await endOf(accounts[5] as TestAccount, began)).toMatchObject({ status: 'completed' });
    expect(held.agent.calls).toHaveLength(4);
    held.letAllGo();
    for (const [index, each] of calls.entries()) await endOf(accounts[index >> 1] as TestAccount, each);
  });

  it('accounts that wait in line take turns, however many requests one of them has there', async () => {
    const held = await newHeldAgent();
    const [first, second] = [await h.newAccount(), await h.newAccount()];
    const blockers = await Promise.all([h.newAccount(), h.newAccount()]);
    const blocking = await Promise.all(blockers.flatMap((each) => [1, 2].map(() => call(held.agent, each, 'block'))));
    await untilCalled(held.agent, 4);
    const waiting = [];
    for (const task of ['a1', 'a2', 'a3']) waiting.push([first, await call(held.agent, first, task)] as const);
    for (const task of ['b1', 'b2']) waiting.push([second, await call(held.agent, second, task)] as const);
    for (let count = 4; count < 9; count++) {
      held.letOneGo();
      await untilCalled(held.agent, count + 1);
    }
    held.letAllGo();
    for (const [account, each] of waiting) await endOf(account, each);
    for (const [index, each] of blocking.entries()) await endOf(blockers[index >> 1] as TestAccount, each);
    expect(held.agent.calls.slice(4).map(({ body }) => body.task)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('a synchronous call skips the queue, and gives up its slot in front when its connection ends', async () => {
    const one = await startHarness({
      env: { MAX_RUNNING: '1', MAX_RUNNING_PER_ACCOUNT: '9', MAX_RUNNING_PER_AGENT: '9' },
    });
    const agent = await startTestAgent(one, { perRequest: '0', behaviour: () => {} });
    onTestFinished(async () => {
      await agent.die();
      await one.stop();
    });
    const { key } = await one.newAccount();
    const hangUp = new AbortController();
    const invoke = (task: string, init: RequestInit = {}) =>
      fetch(`${one.baseUrl}/invoke/${agent.id}`, {
        ...init,
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers },
        body: JSON.stringify({ task }),
      });
    const tasks = () => agent.calls.map(({ body }) => body.task);
    for (const task of ['first', 'in line']) await invoke(task);
    const awaited = invoke('awaited', { headers: sync, signal: hangUp.signal }).catch(() => null);
    await untilCalled(agent, 2);
    hangUp.abort();
    await awaited;
    let patienceMs = 100;
    const another = async () => {
      patienceMs *= 2;
      await invoke('another', { headers: sync, signal: AbortSignal.timeout(patienceMs) }).catch(() => null);
      return tasks().length > 2 ? tasks() : null;
    };
    const heard = await until(another);
    expect(heard).toEqual(['first', 'awaited', 'another']);
  });

  it('agents that an agent calls do not wait behind the calls of their owner', async () => {
    const [held, other] = [await newHeldAgent(), await newAgent()];
    const owner = await h.newAccount();
    const own = await startTestAgent(h, { owner, perRequest: '0' });
    agents.push(own);
    const outer = [await call(held.agent, owner, 'outer'), await call(held.agent, owner, 'outer')];
    expect((await call(other, owner, 'waits')).body.data.status).toBe('pending');
    expect((await call(other, { key: own.identityToken }, 'inner', sync)).body.data.status).toBe('completed');
    held.letAllGo();
    for (const each of outer) await endOf(owner, each);
  });
});

describe('a line that is full', () => {
  it('refuses with 429 and Retry-After before anything is charged, single and bulk', async () => {
    const held = await newHeldAgent('0.05');
    const other = await newAgent('0.05');
    const client = await newClient(h, '10.00');
    const calls = [];
    for (let nth = 0; nth < 5; nth++) calls.push(await call(held.agent, client, 'hang'));
    const before = await balanceOf(h, client.key);
    const bulk = { task: 'x', agents: [held.agent.id, other.id] };
    for (const refused of [
      await call(held.agent, client, 'hang'),
      await call(other, client, 'awaited', sync),
      await h.request('POST', '/invoke/bulk', { key: client.key, body: bulk }),
    ]) {
      expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
        ...[429, 'RATE_LIMITED', '10'],
      ]);
      expect(refused.body.error.details).toMatchObject({ limit: 3, type: 'waiting' });
    }
    expect(await balanceOf(h, client.key)).toEqual(before);
    held.letAllGo();
    for (const each of calls) expect(await endOf(client, each)).toMatchObject({ status: 'completed' });
  });

  it('refuses a call whose deadline comes before its turn, and no other', async () => {
    const [held, other] = [await newHeldAgent('0.05'), await newAgent('0.05')];
    const client = await newClient(h, '10.00');
    const calls = [];
    for (let nth = 0; nth < 3; nth++) calls.push(await call(held.agent, client, 'hang'));
    const before = await balanceOf(h, client.key);
    await h.ctx.db.query(
      'age-line',
      "update invocation set created_at = created_at - interval '5 minutes' where agent_id = $1 and status = 'pending'",
      [held.agent.id],
    );
    const callIn = (agent: { id: string }, minutes: number, priority: string) => {
      const body = { task: 'x', priority, deadline: new Date(Date.now() + minutes * 60_000).toISOString() };
      return h.request('POST', `/invoke/${agent.id}`, { key: client.key, body });
    };
    const refused = await callIn(held.agent, 3, 'normal');
    expect([refused.status, refused.body.error.details.type]).toEqual([429, 'waiting']);
    expect(refused.body.error.message).toMatch(/queue is about 30\d s long/);
    expect(await balanceOf(h, client.key)).toEqual(before);
    for (const taken of [await callIn(held.agent, 3, 'high'), await callIn(other, 3, 'normal')]) {
      expect([taken.status, taken.body.data.status]).toEqual([200, 'pending']);
      calls.push(taken);
    }
    held.letAllGo();
    for (const each of calls) expect(await endOf(client, each)).toMatchObject({ status: 'completed' });
  });

  it('a call paid by x402 waits for its place when it is paid, and one too many is refused without an offer', async () => {
    const held = await newHeldAgent('0.05');
    const account = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const body = { task: 'x', webhookUrl: 'http://127.0.0.1:1/never' };
    const invoke = (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${held.agent.id}`, { key: account.key, body, headers });
    const paid = [];
    for (let nth = 0; nth < 5; nth++) {
      const payment = await payV2(h, wallet, await invoke());
      paid.push(await whenSettled(() => invoke(payment)));
    }
    expect(paid.map(({ body: { data } }) => data.status)).toEqual(Array(5).fill('processing'));
    await untilCalled(held.agent, 2);
    const refused = await invoke();
    expect([refused.status, refused.body.error.details]).toEqual([429, { limit: 3, type: 'waiting', retryAfterS: 10 }]);
    expect(held.agent.calls).toHaveLength(2);
    held.letAllGo();
    for (const each of paid) expect(await endOf(account, each)).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(await h.usdcOf(wallet.address)).toBe(750_000n);
  });

  it('a call paid by a voucher waits for its place as one paid on chain does', async () => {
    const held = await newHeldAgent('0.05');
    const account = await h.newAccount();
    const payer = newVoucherPayer(h);
    await payer.fund(1_000_000n);
    const body = { task: 'x', webhookUrl: 'http://127.0.0.1:1/never' };
    const invoke = (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${held.agent.id}`, { key: account.key, body, headers });
    const paid = [];
    for (let nth = 1n; nth <= 5n; nth++) paid.push(await invoke(payer.pay(await invoke(), nth * 50_000n)));
    expect(paid.map(({ status }) => status)).toEqual(Array(5).fill(200));
    await untilCalled(held.agent, 2);
    const refused = await invoke();
    expect([refused.status, refused.body.error.details]).toEqual([429, { limit: 3, type: 'waiting', retryAfterS: 10 }]);
    expect(held.agent.calls).toHaveLength(2);
    held.letAllGo();
    for (const each of paid) expect(await endOf(account, each)).toMatchObject({ status: 'completed', cost: '0.05' });
  });
});
