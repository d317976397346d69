import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { requireAccount } from '../../../../src/accounts/caller.ts';
import { unkeyed } from '../../../../src/accounts/idempotency/once.ts';
import { AppError } from '../../../../src/lib/app-error.ts';
import { freezeTreasury } from '../../../../src/payments/ledger/treasury.ts';
import { collectEarnings } from '../../../../src/payments/payouts/collect-earnings.ts';
import { createLowBalanceWatch } from '../../../../src/payments/statements/balance-alert.ts';
import { contradictions } from '../../../support/books.ts';
import type { Harness, TestAccount } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, deposit, newClient } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';

let h: Harness;
let client: Client;
beforeAll(async () => {
  h = await borrowHarness();
  client = await newClient(h, '5.00');
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));
afterAll(() => h.stop());

const running: TestAgent[] = [];
afterEach(() => Promise.all(running.splice(0).map((agent) => agent.die())));

/** Somebody with two agents that have earned 0.05 each, and no treasury of the account. */
async function newSeller(): Promise<TestAccount & { agents: TestAgent[] }> {
  const owner = await h.newAccount();
  const agents = await Promise.all([0, 1].map(() => startTestAgent(h, { owner, perRequest: '0.05' })));
  running.push(...agents);
  for (const { id } of agents) expect((await call(id)).status).toBe(200);
  return { ...owner, agents };
}

const call = (agentId: string) =>
  h.request('POST', `/invoke/${agentId}`, { key: client.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
const collect = (key: string, body: object = {}, headers = {}) =>
  h.request('POST', '/payments/collect', { key, body, headers });
const balance = async (key: string) => (await h.request('GET', '/payments/balance', { key })).body.data;

describe('collected earnings', () => {
  it('are in the treasury that calls are paid from, once, however many collect at once', async () => {
    const { key, agents } = await newSeller();
    expect(await balance(key)).toMatchObject({ earnings: '0.10', available: '0.10', spendable: { total: '0.00' } });
    const headers = { 'idempotency-key': 'mine' };
    const answers = await Promise.all([collect(key, {}, headers), ...agents.map(() => collect(key))]);
    const amounts = answers.map(({ body }) => Number(body.data.amount));
    expect(amounts.reduce((sum, each) => sum + each)).toBeCloseTo(0.1);
    expect((await collect(key, {}, headers)).body.data).toEqual(answers[0]?.body.data);

    const { spendable, ...after } = await balance(key);
    expect(after).toMatchObject({ earnings: '0.00', available: '0.10' });
    expect(spendable.total).toBe('0.10');
    const { body } = await h.request('GET', `/payments/treasury/${spendable.treasuryId}/statement`, { key });
    expect(body.data.closingBalance).toBe('0.10');
    const ids = agents.map(({ id }) => id);
    for (const entry of body.data.entries) {
      expect(entry).toMatchObject({ type: 'collect', direction: 'credit', amount: '0.05' });
      expect(ids).toContain(entry.counterparty);
    }
    const [agent] = ids;
    const figures = (await h.request('GET', `/agents/${agent}/earnings`, { key })).body.data;
    expect(figures).toMatchObject({ earned: '0.05', withdrawn: '0.05' });
  });

  it('are those of one agent where it is named, and none twice', async () => {
    const { key, agents } = await newSeller();
    const [agent] = agents;
    const { data } = (await collect(key, { agentId: agent?.id })).body;
    expect(data).toMatchObject({
      amount: '0.05',
      balance: '0.05',
      byAgent: [{ agentId: agent?.id, amount: '0.05' }],
      left: [],
    });
    expect((await collect(key, { agentId: agent?.id })).body.data).toMatchObject({ amount: '0.00', byAgent: [] });
    expect((await balance(key)).earnings).toBe('0.05');
  });

  it('are not those of a frozen treasury, or of an agent that the chain gives to another wallet', async () => {
    const { key, agents } = await newSeller();
    const [frozen, sold] = agents.map(({ id }) => id);
    await h.ctx.db.transaction((tx) => freezeTreasury(tx, frozen ?? '', new Date()));
    expect((await collect(key, { agentId: frozen })).status).toBe(409);
    const treasuryOwners = {
      async require() {
        throw new AppError('CONFLICT', 'sold');
      },
    };
    const caller = requireAccount(await h.ctx.authenticator.authenticate(`Bearer ${key}`));
    const collected = (body: { agentId?: string }) =>
      collectEarnings({ ...h.ctx, treasuryOwners }, caller, body, unkeyed);
    expect(await collected({})).toMatchObject({ amount: '0.00', left: [sold] });
    await expect(collected({ agentId: sold ?? '' })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await balance(key)).earnings).toBe('0.10');
  });
});

it('tells of low balances in bounded turns, from the first alert again after the last', async () => {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => h.newAccount()));
  // The balance is zero, and the node's own watch is quicker or later than this one: both together tell each account once.
  for (const { key } of accounts) await h.request('PUT', '/payments/balance/alert', { key, body: { below: '0.08' } });
  const watch = createLowBalanceWatch(h.ctx, 2);
  const [{ count } = { count: 0 }] = await h.ctx.db.query<{ count: number }>(
    'alerts-of-test',
    'select count(*)::int as count from balance_alert',
    [],
  );
  for (let turn = 0; turn <= Math.ceil(count / 2) + 1; turn++) await watch();
  const told = accounts.map(async ({ key }) => {
    const { events } = (await h.request('GET', '/events?type=balance.low', { key })).body.data;
    return events.length;
  });
  expect(await Promise.all(told)).toEqual([1, 1, 1, 1, 1]);
});

it('tells of a low balance once, and again after it had risen', async () => {
  const seller = await newSeller();
  const [agent] = seller.agents;
  const { key, treasuryId } = await newClient(h, '0.10');
  const set = (below: string | null) => h.request('PUT', '/payments/balance/alert', { key, body: { below } });
  const events = async () => (await h.request('GET', '/events?type=balance.low', { key })).body.data.events;
  const untilTold = (count: number) => until(async () => ((await events()).length === count ? true : null));
  expect((await set('0')).status).toBe(400);
  await set('0.08');
  expect(await balance(key)).toMatchObject({ alertBelow: '0.08' });
  const pay = () =>
    h.request('POST', `/invoke/${agent?.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
  await pay();
  expect(await untilTold(1)).toBe(true);
  const [event] = await events();
  expect(event.data).toEqual({ treasuryId, available: '0.05', below: '0.08' });
  await deposit(h, key, treasuryId, '0.10');
  await until(async () => {
    const [row] = await h.ctx.db.query<{ isTold: boolean }>(
      'told',
      'select is_told as "isTold" from balance_alert where account_id = (select account_id from ledger_account where id = $1)',
      [treasuryId],
    );
    return row?.isTold === false ? true : null;
  });
  await pay();
  await pay();
  expect(await untilTold(2)).toBe(true);
  expect((await set(null)).body.data).toEqual({ below: null });
  expect(await balance(key)).toMatchObject({ alertBelow: null });
});
