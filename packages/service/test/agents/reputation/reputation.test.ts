import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addProbe } from '../../../src/agents/health/probe-store.ts';
import { callsAdded } from '../../../src/agents/reputation/call-store.ts';
import { weightOf, weights } from '../../../src/agents/reputation/evidence.ts';
import { recomputeReputations } from '../../../src/agents/reputation/recompute-reputations.ts';
import { listPayerOutcomes } from '../../../src/agents/reputation/reputation-store.ts';
import { newId } from '../../../src/lib/id.ts';
import { run } from '../../../src/store/sql.ts';
import { startA2aUpstream } from '../../calls/protocols/support/a2a-upstream.ts';
import { listUpstream } from '../../calls/protocols/support/upstream.ts';
import { expectError } from '../../http/api/support/expect-error.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { newVoucherPayer } from '../../support/voucher-payer.ts';
import { payV2 } from '../../support/x402-payer.ts';

const DAY_MS = 86_400_000;
const clock = fixedClock(new Date());
let h: Harness;
beforeAll(async () => {
  h = await startHarness({ clock, env: { MAX_RUNNING_PER_ACCOUNT: '1', CHANNELS: 'true' } });
  shops = await Promise.all(Array.from({ length: 5 }, newShop));
});
afterAll(() => h.stop());

// biome-ignore lint/suspicious/noExplicitAny: an answer of the node
const reputationOf = async (agentId: string): Promise<any> =>
  (await h.request('GET', `/agents/${agentId}/reputation`)).body.data;

/** An agent that is registered and nothing more: what it is about here is who pays it. */
async function newAgent(owner: TestAccount): Promise<string> {
  const body = { name: 'x', capabilities: ['x'], rates: { perRequest: '0.05' }, endpoint: 'http://127.0.0.1:1/' };
  return (await h.request('POST', '/agents', { key: owner.key, body })).body.data.id;
}

interface Called {
  readonly by: TestAccount;
  readonly agentId: string;
  readonly isGood?: boolean;
  readonly wallet?: string;
  readonly daysAgo?: number;
}

const record = ({ by, agentId, isGood = true, wallet = '', daysAgo = 0 }: Called) =>
  run(
    h.ctx.db,
    callsAdded(
      [],
      [{ requestId: newId('req'), agentId, accountId: by.accountId, wallet, amountMicro: 50_000n, isGood }],
      new Date(clock.now().getTime() - daysAgo * DAY_MS),
    ),
  );

/** The score of an agent once all that has happened so far bears upon it. */
async function scoreOf(agentId: string): Promise<number> {
  clock.advance(1);
  await h.ctx.db.pool.query('update agent_reputation set due_at = $2 where agent_id = $1', [agentId, clock.now()]);
  await until(async () => {
    await recomputeReputations(h.ctx);
    const { rows } = await h.ctx.db.pool.query(
      `select from agent_reputation where agent_id = $1 and computed_at >= $2 and due_at > $2
          and not exists (select from outcome_due)`,
      [agentId, clock.now()],
    );
    return rows[0] ?? null;
  });
  return (await reputationOf(agentId)).score;
}

/** An account that has paid five owners for more than thirty days. */
async function newCustomer(): Promise<TestAccount> {
  const customer = await h.newAccount();
  for (const agentId of shops) await record({ by: customer, agentId, daysAgo: 40 });
  return customer;
}
let shops: string[];
const newShop = async () => newAgent(await h.newAccount());

it('an agent is new until three independent customers have paid, in lists too; the owner is none of them', async () => {
  const owner = await h.newAccount();
  const agentId = await newAgent(owner);
  const states = async () => {
    await scoreOf(agentId);
    const { body: found } = await h.request('GET', '/agents?limit=100');
    const listed = found.data.agents.find(({ id }: { id: string }) => id === agentId);
    return [(await h.request('GET', `/agents/${agentId}`)).body.data.isNew, listed.isNew];
  };
  for (const by of [await h.newAccount(), await h.newAccount(), owner]) await record({ by, agentId });
  expect(await states()).toEqual([true, true]);
  await record({ by: await h.newAccount(), agentId, isGood: false });
  await expect.poll(states).toEqual([false, false]);
});

describe('a paid call', () => {
  let owner: TestAccount;
  let agent: TestAgent;
  beforeAll(async () => {
    owner = await h.newAccount();
    agent = await startTestAgent(h, { owner, perRequest: '0.05' });
  });
  afterAll(() => agent.die());

  const outcomes = async () =>
    (await h.ctx.db.pool.query('select is_good, wallet, amount_micro from outcome where agent_id = $1', [agent.id]))
      .rows;
  const invoke = (key: string, headers: Record<string, string> = {}, body: object = {}) =>
    h.request('POST', `/invoke/${agent.id}`, {
      key,
      body: { task: 'hello', ...body },
      headers: { 'x-sync': 'true', ...headers },
    });

  it('moves the score within seconds, the same in the record, the list and the explanation, whose parts add up', async () => {
    const before = await reputationOf(agent.id);
    expect(before).toMatchObject({ agentId: agent.id, formulaVersion: 3 });
    const client = await newClient(h, '1.00');
    expect((await invoke(client.key)).body.data.status).toBe('completed');
    const after = await until(async () => {
      const found = await reputationOf(agent.id);
      return found.components.outcomes.calls.good === 1 ? found : null;
    });
    expect(after.score).toBeGreaterThan(before.score);
    const { outcomes, uptime, latency } = after.components;
    expect(outcomes.contribution + uptime.contribution + latency.contribution).toBe(after.score);
    expect(outcomes).toMatchObject({ payers: { credible: 0, weak: 1, linked: 0 }, evidence: { good: 0.02, bad: 0 } });
    expect(outcomes.explanation).toContain('1 of 1 paid call succeeded');
    expect((await h.request('GET', `/agents/${agent.id}`)).body.data.reputation).toBe(after.score);
    const listed = (await h.request('GET', '/agents?limit=100')).body.data.agents;
    expect(listed.find(({ id }: { id: string }) => id === agent.id).reputation).toBe(after.score);
  });

  it('counts when it fails by the agent, with the wallet that paid, and not when it was cancelled or the time was too short', async () => {
    await h.ctx.db.pool.query('delete from outcome where agent_id = $1', [agent.id]);
    const account = await h.newAccount();
    const wallet = await h.newWallet();
    agent.behave(answerWith(500, {}));
    const unpaid = await invoke(account.key);
    const paid = await invoke(account.key, await payV2(h, wallet, unpaid));
    expect(paid.body.data.status).toBe('failed');
    expect(await outcomes()).toEqual([{ is_good: false, wallet: wallet.address.toLowerCase(), amount_micro: 50_000n }]);

    const client = await newClient(h, '1.00');
    agent.behave(() => undefined);
    const open = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } });
    const { requestId } = open.body.data;
    expect((await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key })).status).toBe(200);
    const deadline = new Date(clock.now().getTime() + 200).toISOString();
    expect((await invoke(client.key, {}, { deadline })).body.data.error.code).toBe('deadline_exceeded');
    expect(await outcomes()).toHaveLength(1);
    agent.behave(echo);
  });

  it('that the agent asks more input for is a failed call, and says nothing of the agent', async () => {
    const site = await startA2aUpstream();
    const asking = await listUpstream(h, site);
    site.mode = { kind: 'needs input' };
    const client = await newClient(h, '1.00');
    const call = { key: client.key, body: { task: 'do it' }, headers: { 'x-sync': 'true' } };
    const { data } = (await h.request('POST', `/invoke/${asking.id}`, call)).body;
    expect(data).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'agent_needs_input' } });
    const { rows } = await h.ctx.db.pool.query('select from outcome where request_id = $1', [data.requestId]);
    expect(rows).toEqual([]);
    await site.stop();
  });

  it('that misses its deadline in the queue does not count against the agent, nor does waiting count as its time', async () => {
    const [client, payer, gate] = [await newClient(h, '1.00'), newVoucherPayer(h), Promise.withResolvers<void>()];
    await payer.fund(1_000_000n);
    const held = await startTestAgent(h, {
      ...{ perRequest: '0', behaviour: (request, response) => gate.promise.then(() => echo(request, response)) },
    });
    const called = await startTestAgent(h, { perRequest: '0.05' });
    const [deadline, webhookUrl] = [new Date(clock.now().getTime() + 40_000).toISOString(), 'http://127.0.0.1:1/never'];
    const call = ({ id }: TestAgent, body: object, headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${id}`, { key: client.key, body: { task: 'x', webhookUrl, ...body }, headers });
    const byVoucher = async (body: object, maxMicro: bigint) =>
      call(called, body, payer.pay(await call(called, body, { 'x-payment-method': 'x402' }), maxMicro));
    await call(held, {});
    await until(async () => held.calls[0] ?? null);
    const calls = [await call(called, { deadline })];
    calls.push(await byVoucher({ deadline }, 50_000n), await byVoucher({ task: 'patient' }, 100_000n));
    clock.advance(41_000);
    gate.resolve();
    const ends = await Promise.all(calls.map(({ body }) => untilEnded(h, client.key, body.data.requestId)));
    expect(ends).toMatchObject([
      ...[0, 1].map(() => ({ status: 'failed', cost: '0.00', error: { code: 'deadline_exceeded' } })),
      { status: 'completed' },
    ]);
    expect(called.calls.map(({ body }) => body.task)).toEqual(['patient']);
    const { rows } = await h.ctx.db.pool.query(
      `select completed::int, failed::int, duration_ms::int, (select array_agg(is_good) from outcome where agent_id = $1) as outcomes
         from agent_totals where agent_id = $1`,
      [called.id],
    );
    expect(rows).toEqual([{ completed: 1, failed: 0, duration_ms: 0, outcomes: [true] }]);
    await Promise.all([held.die(), called.die()]);
  });

  it('by the owner is noted and moves nothing', async () => {
    const before = await scoreOf(agent.id);
    for (let call = 0; call < 20; call++) await record({ by: owner, agentId: agent.id });
    expect(await scoreOf(agent.id)).toBe(before);
    expect((await reputationOf(agent.id)).components.outcomes).toMatchObject({
      payers: { linked: 1 },
      linkedCalls: 20,
    });
  });
});

describe('an agent that customers are content with', () => {
  it('rises with their number, and not with how often one of them calls', async () => {
    const agentId = await newAgent(await h.newAccount());
    const first = await newCustomer();
    for (let call = 0; call < 3; call++) await record({ by: first, agentId });
    const one = await scoreOf(agentId);
    for (let call = 0; call < 200; call++) await record({ by: first, agentId });
    expect(await scoreOf(agentId)).toBe(one);
    for (const customer of await Promise.all([newCustomer(), newCustomer(), newCustomer()]))
      for (let call = 0; call < 3; call++) await record({ by: customer, agentId });
    expect(await scoreOf(agentId)).toBeGreaterThan(one + 50);
    expect((await reputationOf(agentId)).components.outcomes.payers).toEqual({ credible: 4, weak: 0, linked: 0 });
  });

  it('falls from day to day without calls, even if it is not read', async () => {
    const agentId = await newAgent(await h.newAccount());
    const customer = await newCustomer();
    for (let call = 0; call < 3; call++) await record({ by: customer, agentId });
    const before = await scoreOf(agentId);
    clock.advance(30 * DAY_MS);
    await recomputeReputations(h.ctx);
    const after = await until(async () => {
      const found = await reputationOf(agentId);
      return found.score < before ? found : null;
    });
    expect(after.components.outcomes.evidence.good).toBeCloseTo(1.5, 3);
  });

  it('has the same score when everything is counted anew from the outcomes alone', async () => {
    const owner = await h.newAccount();
    const agentId = await newAgent(owner);
    for (const by of [await newCustomer(), await newCustomer(), await h.newAccount(), owner])
      for (const isGood of [true, true, false]) await record({ by, agentId, isGood, wallet: `0x${by.accountId}` });
    await scoreOf(agentId);
    const before = await reputationOf(agentId);
    await h.ctx.db.transaction(async (tx) => {
      await tx.query(
        'forget-derived',
        `with a as (delete from outcome_day), b as (delete from payer_agent), c as (delete from payer_wallet),
              d as (delete from payer), e as (delete from agent_payee)
         insert into outcome_due (request_id) select request_id from outcome order by random()`,
      );
    });
    await scoreOf(agentId);
    const after = await reputationOf(agentId);
    expect({ ...after, computedAt: '' }).toEqual({ ...before, computedAt: '' });
  });
});

describe('an agent with a long past', () => {
  it('is worked out from one row of each payer, and then waits a little with what comes next', async () => {
    const agentId = await newAgent(await h.newAccount());
    const [regular, guest] = [await newCustomer(), await newCustomer()];
    await h.ctx.db.pool.query(
      `insert into outcome_day (agent_id, account_id, wallet, day, good_micro, bad_micro, good_calls, bad_calls)
       select $1, $2, 'wallet ' || w, ($3::timestamptz at time zone 'utc')::date - d, 10, 4, 1, 1
         from generate_series(0, 309) d, generate_series(1, 4) w`,
      [agentId, regular.accountId, clock.now()],
    );
    await record({ by: guest, agentId });
    await scoreOf(agentId);
    const rows = await listPayerOutcomes(h.ctx.db, agentId, clock.now(), weights);
    const of = (account: TestAccount) => rows.find(({ accountId }) => accountId === account.accountId);
    expect(rows).toHaveLength(2);
    expect(of(guest)).toMatchObject({ good: 50_000n * weightOf(0), bad: 0n, goodCalls: 1n, badCalls: 0n, records: 1n });
    const once = weights.reduce((sum, weight) => sum + weight, 0n);
    expect(of(regular)).toMatchObject({ good: 40n * once, bad: 16n * once, goodCalls: 1200n, records: 1200n });
    const { calls } = (await reputationOf(agentId)).components.outcomes;
    expect(calls).toEqual({ good: 1201, bad: 1200 });

    await record({ by: guest, agentId });
    const counted = async () =>
      (await h.ctx.db.pool.query('select where not exists (select from outcome_due)')).rows[0] ?? null;
    await recomputeReputations(h.ctx);
    await until(counted);
    expect((await reputationOf(agentId)).components.outcomes.calls).toEqual(calls);
    // 201 records beyond the first thousand, 2 ms for each.
    clock.advance(402);
    await recomputeReputations(h.ctx);
    await until(async () => (await reputationOf(agentId)).components.outcomes.calls.good === 1202);
  });
});

describe('an account that is related to the owner', () => {
  /** The score of an agent that a customer praised, before and after the two were tied, and what was left out. */
  async function tied(tie: (owner: TestAccount, customer: TestAccount) => Promise<unknown>, isGood = true) {
    const owner = await h.newAccount();
    const [agentId, customer] = [await newAgent(owner), await newCustomer()];
    const start = await scoreOf(agentId);
    for (let call = 0; call < 3; call++) await record({ by: customer, agentId, isGood });
    const before = await scoreOf(agentId);
    await tie(owner, customer);
    return { start, before, after: await scoreOf(agentId) };
  }
  const link = (account: TestAccount, address: string) =>
    h.ctx.db.pool.query('insert into account_wallet (address, account_id, proven_at) values ($1, $2, now())', [
      address,
      account.accountId,
    ]);
  const address = () =>
    `0x${newId('acc')
      .replace(/[^0-9a-f]/g, '0')
      .padEnd(40, '0')
      .slice(0, 40)}`;
  async function payment(account: TestAccount, purpose: 'deposit' | 'withdrawal', from: string, to: string) {
    await h.ctx.db.pool.query(
      `insert into chain_payment (id, chain_id, token, from_address, nonce, direction, purpose, subject_id, account_id,
         ledger_account_id, to_address, value_micro, valid_after, valid_before, signature, state, created_at, ended_at)
       values ($1, 31337, '0x', $2, $1, $3, $4, $1, $5, 'wallet', $6, 1, 0, 0, '0x', 'settled', now(), now())`,
      [newId('pay'), from, purpose === 'deposit' ? 'in' : 'out', purpose, account.accountId, to],
    );
  }

  it('says nothing: accounts that one wallet filled, that paid with one wallet, that proved one', async () => {
    const filled = await tied(async (owner, customer) => {
      const wallet = address();
      for (const account of [owner, customer]) await payment(account, 'deposit', wallet, h.ctx.chain.wallet);
    });
    expect(filled.before).toBeGreaterThan(filled.start);
    expect(filled.after).toBe(filled.start);

    const paid = await tied(async (owner, customer) => {
      const wallet = address();
      for (const by of [owner, customer]) await record({ by, agentId: await newShop(), wallet });
    });
    expect(paid.after).toBe(paid.start);

    const proven = await tied(async (owner, customer) => {
      const wallet = address();
      await link(customer, wallet);
      await record({ by: owner, agentId: await newShop(), wallet });
    });
    expect(proven.after).toBe(proven.start);
  });

  it('lowers the score but does not raise it: it got money of the owner, the owner paid its agent, or the agent names it as its owner', async () => {
    const toCustomer = (owner: TestAccount, customer: TestAccount) =>
      payment(owner, 'withdrawal', h.ctx.chain.wallet, customer.address.toLowerCase());
    const praised = await tied(toCustomer);
    expect(praised.before).toBeGreaterThan(praised.start);
    expect(praised.after).toBe(praised.start);
    const blamed = await tied(toCustomer, false);
    expect(blamed.before).toBeLessThan(blamed.start);
    expect(blamed.after).toBe(blamed.before);
    const named = (owner: TestAccount, customer: TestAccount) =>
      h.ctx.db.pool.query('update agent set owner_address = $2 where account_id = $1', [
        owner.accountId,
        customer.address.toLowerCase(),
      ]);
    const namedAndPraised = await tied(named);
    expect(namedAndPraised.after).toBe(namedAndPraised.start);
    const namedAndBlamed = await tied(named, false);
    expect(namedAndBlamed.before).toBeLessThan(namedAndBlamed.start);
    expect(namedAndBlamed.after).toBe(namedAndBlamed.before);
    const bought = await tied(async (owner, customer) => record({ by: owner, agentId: await newAgent(customer) }));
    expect(bought.after).toBe(bought.start);
  });

  it('is not who a third one sent money to', async () => {
    const { before, after } = await tied(async (owner, customer) => {
      const rival = await h.newAccount();
      for (const { address: to } of [owner, customer])
        await payment(rival, 'withdrawal', h.ctx.chain.wallet, to.toLowerCase());
    });
    expect(after).toBe(before);
  });
});

describe('uptime', () => {
  it('is that of the last thirty days', async () => {
    const agentId = await newAgent(await h.newAccount());
    const uptime = async () => (await h.request('GET', `/agents/${agentId}`)).body.data.uptime;
    const probe = async (isAlive: boolean, daysAgo: number) =>
      addProbe(h.ctx.db, agentId, isAlive ? 10 : null, new Date(clock.now().getTime() - daysAgo * DAY_MS));
    for (const daysAgo of [31, 30, 29]) await probe(false, daysAgo);
    expect(await uptime()).toBe(0);
    await probe(true, 0);
    expect(await uptime()).toBe(0.5);
    const { rows } = await h.ctx.db.pool.query('select 1 from agent_probe_day where agent_id = $1', [agentId]);
    expect(rows).toHaveLength(2);
  });
});

it('an agent that is not there has no reputation to explain', async () => {
  expectError(await h.request('GET', '/agents/agt_nobody/reputation'), 'NOT_FOUND');
});
