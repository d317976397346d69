import { api } from '@agent-network/contracts/api';
import type { ChecklistStep } from '@agent-network/contracts/network/operator';
import { type AccountItem, accountSorts } from '@agent-network/contracts/network/operator-accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aggregateFigures } from '../../src/calls/read/count-calls.ts';
import { settingsInForce } from '../../src/config/settings.ts';
import { createTotalsRefresh } from '../../src/operator/account-totals-store.ts';
import { hasAlerts } from '../../src/operator/operator-store.ts';
import { readSettings } from '../../src/operator/read-settings.ts';
import { expectError } from '../http/api/support/expect-error.ts';
import { contradictions } from '../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { echo, startTestAgent, type TestAgent, untilStatus } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: Harness;
let operator: TestAccount;
let other: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  operator = await h.newAccount({ scopes: ['operator', 'invoke', 'keys:manage'] });
  other = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await other.die();
  await h.stop();
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));

const change = (accountId: string, verb: 'suspend' | 'resume', reason = 'abuse') =>
  h.request('POST', `/operator/accounts/${accountId}/${verb}`, { key: operator.key, body: { reason } });
const setPlan = (accountId: string, plan: string) =>
  h.request('PUT', `/operator/accounts/${accountId}/plan`, { key: operator.key, body: { plan, reason: 'asked' } });
const read = async (accountId: string) =>
  (await h.request('GET', `/operator/accounts/${accountId}`, { key: operator.key })).body.data;
const list = async (query: string) =>
  (await h.request('GET', `/operator/accounts?${query}`, { key: operator.key })).body.data;
const invoke = (key: string | undefined, agent: TestAgent, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true', ...headers } });

describe('a suspended account', () => {
  let client: Client;
  beforeAll(async () => {
    client = await newClient(h, '2.00');
  });

  it('starts nothing new with any of its keys, by x402 or over its wallet, and is charged nothing', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const keyless = (headers: Record<string, string> = {}) =>
      h.request('POST', `/x402/${other.id}`, { body: { task: 'x' }, headers });
    const first = await keyless(await payV2(h, wallet, await keyless()));
    expect(first.status).toBe(200);
    const { accounts } = await list(`search=${wallet.address}`);
    const payer = accounts[0].accountId;
    expect((await change(payer, 'suspend')).status).toBe(200);
    expectError(await keyless(await payV2(h, wallet, await keyless())), 'FORBIDDEN');
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);

    expect((await change(client.accountId, 'suspend')).status).toBe(200);
    expectError(await invoke(client.key, other), 'FORBIDDEN');
    for (const [method, path, body] of [
      ['POST', '/invoke/bulk', { task: 'x', agents: [other.id], strategy: 'all' }],
      ['POST', '/account/keys', { name: 'x', scopes: ['invoke'] }],
      ['POST', '/payments/treasury/deposit', { amount: '1', treasuryId: client.treasuryId }],
      ['POST', '/v1/chat/completions', { model: other.id, messages: [{ role: 'user', content: 'x' }] }],
    ] as const)
      expect((await h.request(method, path, { key: client.key, body })).status, path).toBe(403);
    const push = {
      method: 'CreateTaskPushNotificationConfig',
      params: { taskId: 'req_1', url: 'https://hook.example' },
    };
    const a2a = { key: client.key, headers: { 'a2a-version': '1.0' }, body: { jsonrpc: '2.0', id: 1, ...push } };
    expect((await h.request('POST', `/a2a/${other.id}`, a2a)).status, push.method).toBe(403);
    expect(await balanceOf(h, client.key)).toEqual({ available: '2.00', held: '0.00' });
  });

  it.each(['requestSignIn', 'signIn'] as const)('is refused by %s, as the document says', async (name) => {
    const { method, path, errors } = api[name];
    const body = { address: `0x${'ab'.repeat(20)}`, challengeId: 'chg_1', signature: `0x${'ab'.repeat(65)}` };
    expectError(await h.request(method, path, { key: client.key, body }), 'FORBIDDEN');
    expect(errors).toContain('FORBIDDEN');
  });

  it('reads why, and withdraws its money', async () => {
    const { data } = (await h.request('GET', '/account', { key: client.key })).body;
    expect(data.suspension).toMatchObject({ reason: 'abuse' });
    const to = (await h.newWallet(0n)).address;
    const body = { amount: '1.50', treasuryId: client.treasuryId, to };
    expect((await h.request('POST', '/payments/withdraw', { key: client.key, body })).status).toBe(200);
    await expect.poll(() => h.usdcOf(to)).toBe(1_500_000n);
  });

  it('calls again once it is resumed, and the operator reads who did what and why', async () => {
    expect((await change(client.accountId, 'resume', 'mended')).status).toBe(200);
    expect((await invoke(client.key, other)).body.data).toMatchObject({ status: 'completed' });
    const { changes, suspension, available } = await read(client.accountId);
    expect([suspension, available]).toEqual([null, '0.45']);
    expect(changes).toMatchObject([
      { kind: 'resumed', reason: 'mended', byAccountId: operator.accountId },
      { kind: 'suspended', reason: 'abuse', byAccountId: operator.accountId },
    ]);
    const { entries } = (await h.request('GET', '/account/audit', { key: operator.key })).body.data;
    expect(entries[0]).toMatchObject({ action: 'resumeAccount', subject: { accountId: client.accountId } });
  });

  it('is never the operator’s own', async () => {
    expectError(await change(operator.accountId, 'suspend'), 'CONFLICT');
  });
});

it('an agent of a suspended account ends the calls that it has, is called no more, says why, and is paid', async () => {
  const owner = await h.newAccount();
  const client = await newClient(h, '1.00');
  const gate = Promise.withResolvers<void>();
  const agent = await startTestAgent(h, { owner, perRequest: '0.10' });
  agent.behave(async (request, response) => {
    await gate.promise;
    await echo(request, response);
  });
  const started = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } });
  await expect.poll(() => agent.calls.length).toBe(1);
  await change(owner.accountId, 'suspend');
  const refused = await invoke(client.key, agent);
  expect([refused.status, refused.body.error.code]).toEqual([503, 'AGENT_UNAVAILABLE']);
  await h.ctx.db.query('check-now', 'update agent set next_check_at = now() where id = $1', [agent.id]);
  h.ctx.agentChecks.requestRun();
  await expect
    .poll(
      async () =>
        (await h.ctx.db.query('due', 'select next_check_at > now() as done from agent where id = $1', [agent.id]))[0],
    )
    .toEqual({ done: true });
  expect((await h.request('GET', `/agents/${agent.id}`)).body.data.online).toBe(false);
  const own = async () => (await h.request('GET', '/account/agents', { key: owner.key })).body.data.agents[0].offline;
  expect(await own()).toMatchObject({
    reason: expect.stringMatching(/^The operator of this node suspended your account on [\d-]+: abuse$/),
    advice: expect.stringContaining('Ask the operator'),
  });
  gate.resolve();
  await untilEnded(h, client.key, started.body.data.requestId);
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.90', held: '0.00' });
  await change(owner.accountId, 'resume');
  await untilStatus(h, agent.id, 'online');
  expect(await own()).toBeNull();
  await agent.die();
});

it('a plan that an operator sets holds from the next call on, for keys that are in use', async () => {
  const account = await h.newAccount({ plan: 'free' });
  const limit = async () => (await h.request('GET', '/account', { key: account.key })).headers.get('x-ratelimit-limit');
  expect(await limit()).toBe('100');
  expect((await setPlan(account.accountId, 'pro')).body.data).toMatchObject({ plan: 'pro' });
  expect(await limit()).toBe('1000');
  expect(await read(account.accountId)).toMatchObject({
    ...{ plan: 'pro', limits: { api: { limit: 1000 } }, keys: { used: 1, most: 50 }, agents: { used: 0, most: 200 } },
    changes: [{ kind: 'plan', plan: 'pro', reason: 'asked' }],
  });
});

it('accounts are found by id, agent, key and start of an address, and each is on exactly one page', async () => {
  const account = await h.newAccount({ plan: 'free' });
  const keyId = account.key.split('_')[2] as string;
  const likeAnAddress = `0x${keyId.slice(0, 9)}Z`;
  await h.ctx.db.query(
    'copy-key',
    `insert into api_key (id, account_id, name, start, secret_hash, scopes, created_at)
     select $2, account_id, name, start, decode($3, 'hex'), scopes, created_at from api_key where id = $1`,
    [keyId, likeAnAddress, account.address.slice(2).padEnd(64, '0')],
  );
  for (const search of [
    account.accountId,
    account.address,
    account.address.slice(0, 12).toUpperCase().replace('X', 'x'),
    keyId,
    likeAnAddress,
  ])
    expect((await list(`search=${search}`)).accounts).toMatchObject([{ accountId: account.accountId }]);
  const owner = (await list(`search=${other.id}`)).accounts;
  expect(owner).toHaveLength(1);
  expect((await list('search=acc_none')).accounts).toEqual([]);
  expect((await list('search=nothing')).accounts).toEqual([]);
  const all = (await list('limit=100')).accounts.map(({ accountId }: { accountId: string }) => accountId);
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await list(`limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.accounts.map(({ accountId }: { accountId: string }) => accountId));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(all);
  expect(new Set(seen).size).toBe(seen.length);
});

describe('the list of accounts by what they did', () => {
  let clients: Client[];
  beforeAll(async () => {
    clients = [await newClient(h, '3.00'), await newClient(h, '4.00'), await newClient(h, '5.00')];
    for (const [index, { key }] of clients.entries())
      for (let call = 0; call <= index; call++) expect((await invoke(key, other)).status).toBe(200);
    await aggregateFigures(h.ctx);
    await createTotalsRefresh(h.ctx)();
  });
  const [first, second, third] = [0, 1, 2].map((index) => () => clients[index]?.accountId ?? '');
  const idsBy = async (sort: string, more = '') => {
    const { accounts } = await list(`limit=100&sort=${sort}${more}`);
    const own = clients.map(({ accountId }) => accountId);
    return accounts.map(({ accountId }: AccountItem) => accountId).filter((id: string) => own.includes(id));
  };

  it('has the calls, amounts and last use of each', async () => {
    const { accounts } = await list(`search=${third?.()}`);
    expect(accounts).toMatchObject([{ calls: 3, spent: '0.15', earned: '0.00', available: '4.85' }]);
    expect(Date.parse(accounts[0].lastSeenAt)).toBeGreaterThan(Date.now() - 120_000);
    expect(await read(third?.() ?? '')).toMatchObject({ calls: 3, spent: '0.15', available: '4.85' });
    const [owner] = (await list(`search=${other.id}`)).accounts;
    expect(Number(owner.earned)).toBeGreaterThanOrEqual(0.3);
  });

  it.each(['calls', 'spent', 'available'])('is sorted by %s, the highest first', async (sort) => {
    expect(await idsBy(sort)).toEqual([third?.(), second?.(), first?.()]);
  });

  it.each(accountSorts)('by %s, each account is on one page, whatever the pages have', async (sort) => {
    const all = (await list(`limit=100&sort=${sort}`)).accounts.map(({ accountId }: AccountItem) => accountId);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`limit=3&sort=${sort}${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.accounts.map(({ accountId }: AccountItem) => accountId));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(all);
  });

  it('is read from an index of the order, and refuses a cursor of another', async () => {
    const { nextCursor } = await list('limit=1&sort=calls');
    expectError(
      await h.request('GET', `/operator/accounts?sort=spent&cursor=${nextCursor}`, { key: operator.key }),
      'VALIDATION_ERROR',
      'cursor',
    );
    const { rows } = await h.ctx.db.pool.query(
      `select indexrelid::regclass::text as name from pg_index where indrelid = 'account_totals'::regclass order by 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual([
      ...['account_totals_available', 'account_totals_calls', 'account_totals_earned', 'account_totals_pkey'],
      ...['account_totals_seen', 'account_totals_spent'],
    ]);
  });

  it('has a new account at once, with nothing', async () => {
    const { accountId } = await h.newAccount();
    expect((await list('limit=1')).accounts).toMatchObject([
      { accountId, calls: 0, spent: '0.00', earned: '0.00', available: '0.00' },
    ]);
  });

  it('first steps are told by what happened', async () => {
    const progressOf = async (key: string) => (await h.request('GET', '/account/progress', { key })).body.data;
    const fresh = await h.newAccount();
    const [first] = [await progressOf(fresh.key)];
    expect({ ...first, buyer: { ...first.buyer, hasUsedKey: null } }).toEqual({
      buyer: { hasCalled: false, isFunded: false, hasPaid: false, hasUsedKey: null },
      seller: { hasAgent: false, isVerified: false, wasCalled: false, hasEarned: false, hasWithdrawn: false },
    });
    const buyer = await newClient(h, '1.00');
    const owner = await h.newAccount();
    const agent = await startTestAgent(h, { owner, perRequest: '0.10' });
    expect((await invoke(buyer.key, agent)).status).toBe(200);
    await expect.poll(async () => (await progressOf(buyer.key)).buyer.hasUsedKey).toBe(true);
    expect((await progressOf(buyer.key)).buyer).toMatchObject({ isFunded: true, hasCalled: true, hasPaid: true });
    const { seller } = await progressOf(owner.key);
    expect(seller).toEqual({ hasAgent: true, isVerified: true, wasCalled: true, hasEarned: true, hasWithdrawn: false });
    const { address: to } = await h.newWallet(0n);
    const body = { amount: '0.10', treasuryId: `trs_${agent.id.slice(4)}`, to };
    expect((await h.request('POST', '/payments/withdraw', { key: owner.key, body })).status).toBe(200);
    await expect.poll(async () => (await progressOf(owner.key)).seller.hasWithdrawn).toBe(true);
    await agent.die();
  });
});

it('the settings in force are shown by subject, and secrets never', async () => {
  const secret = 'a'.repeat(64);
  const env = { SECRET_KEY: secret, DATABASE_URL: `postgres://user:${secret}@127.0.0.1/node`, PLATFORM_FEE_BPS: '250' };
  const shown = readSettings({ settings: settingsInForce(env) });
  expect(shown.find(({ name }) => name === 'PLATFORM_FEE_BPS')).toMatchObject({ value: '250', isDefault: false });
  expect(shown.find(({ name }) => name === 'SECRET_KEY')?.value).toBe('(set, not printed)');
  expect(JSON.stringify(shown)).not.toContain(secret);
  const { settings } = (await h.request('GET', '/operator/settings', { key: operator.key })).body.data;
  expect(settings).toEqual([]);
});

it('the checklist of the operator is judged by the state of the node', async () => {
  const { steps } = (await h.request('GET', '/operator/checklist', { key: operator.key })).body.data;
  const states = Object.fromEntries(steps.map(({ step, isDone }: ChecklistStep) => [step, isDone]));
  // Keys of this harness have every scope, that of the metrics too.
  expect(states).toEqual({
    address: false,
    gas: true,
    backup: false,
    processes: false,
    alerts: true,
    terms: false,
    fee: false,
  });
  const own = await h.newAccount({ scopes: ['webhooks:manage'] });
  expect(await hasAlerts(h.ctx.db, [own.accountId])).toBe(false);
  const body = { url: 'http://127.0.0.1:9/', eventTypes: ['reserves.drift'] };
  expect((await h.request('POST', '/account/webhooks', { key: own.key, body })).status).toBe(200);
  expect(await hasAlerts(h.ctx.db, [own.accountId])).toBe(true);
  expectError(
    await h.request('GET', '/operator/checklist', { key: (await h.newAccount({ scopes: ['invoke'] })).key }),
    'FORBIDDEN',
  );
});
