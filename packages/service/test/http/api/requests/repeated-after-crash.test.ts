import type { EndpointName } from '@agent-network/contracts/api';
import { takesIdempotencyKey } from '@agent-network/contracts/endpoint';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../../../src/accounts/open-account.ts';
import { startReceiver } from '../../../events/support/receiver.ts';
import { contradictions } from '../../../support/books.ts';
import { callAndDie } from '../../../support/dying-process.ts';
import { startTestAgent } from '../../../support/test-agent.ts';
import { untilEnded } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';
import { payV2 } from '../../../support/x402-payer.ts';
import { endpoints, pathOf, validCalls } from '../support/valid-calls.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  expect(await contradictions(world.h.databaseUrl)).toEqual([]);
  await world.stop();
});

/** What calls make or change at once; what follows in the background (events, deliveries of them, transfers) is made from these. */
const EFFECTS = `
  select 'api_key' as name, count(*) || ' ' || md5(string_agg(secret_hash::text || coalesce(replaced_by, ''), '|' order by id)) as made from api_key
  union all select 'agent', count(*) || ' ' || md5(string_agg(token_hash::text, '|' order by id)) from agent
  union all select 'webhook', count(*) || ' ' || md5(string_agg(secret_sealed::text, '|' order by id)) from webhook where kind = 'endpoint'
  union all select 'account', count(*)::text from account
  union all select 'account_change', count(*)::text from account_change
  union all select 'quote', count(*)::text from quote
  union all select 'bulk', count(*)::text from bulk
  union all select 'invocation', count(*)::text from invocation
  union all select 'cancelled', count(*)::text from event where type = 'invocation.cancelled'
  union all select 'answered', count(*)::text from invocation_turn where answered_at is not null
  union all select 'hold', count(*)::text from hold
  union all select 'registry_write', count(*)::text from registry_write
  union all select 'ledger_account', count(*)::text from ledger_account where kind in ('treasury', 'agent')
  union all select 'chain_payment', count(*)::text from chain_payment
  union all select 'held', count(*)::text from chain_payment where state in ('claimed', 'broadcasting')
  union all select 'used_challenge', count(*)::text from used_challenge
  union all select 'test', count(*) || ' ' || sum(attempts) from webhook_delivery where type = 'webhook.test'`;

async function effects(): Promise<Record<string, string>> {
  const { pool } = world.h.ctx.db;
  const pending = `select 1 from webhook_delivery where type = 'webhook.test' and state = 'pending'`;
  await until(async () => (await pool.query(pending)).rowCount === 0);
  const { rows } = await pool.query<{ name: string; made: string }>(EFFECTS);
  return Object.fromEntries(rows.map(({ name, made }) => [name, made]));
}

interface Repeatable {
  readonly path: string;
  readonly key: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Makes the call at a process that dies over it, repeats it at one that lives, and expects one effect and one answer. */
async function expectOnce(call: Repeatable, name: string): Promise<void> {
  const { path, key, body } = call;
  const headers = { 'idempotency-key': `crash-${name}`, ...call.headers };
  const before = await effects();
  const told = await callAndDie(world.h, path, { key, body, headers });
  expect([told.status, told.body.error]).toEqual([200, undefined]);
  for (const { requestId } of [told.body.data, ...(told.body.data.requests ?? [])])
    if (requestId && !path.endsWith('/cancel')) await untilEnded(world.h, key, requestId);
  const between = await effects();
  const again = await world.h.request('POST', path, { key, body, headers });
  expect([again.status, again.body.error]).toEqual([200, undefined]);
  expect(stable(name, again.body.data)).toEqual(stable(name, told.body.data));
  expect(await effects()).toEqual(between);
  if (!changesNothing.has(name)) expect(between).not.toEqual(before);
}

/** The same for a call whose answer shows a secret: it dies before it shows it, and only the first repetition does. */
async function expectShownOnce({ path, key, body }: Repeatable, name: string, field: string): Promise<void> {
  const headers = { 'idempotency-key': `crash-${name}` };
  const before = await effects();
  const told = await callAndDie(world.h, path, { key, body, headers }, { before: 'take-idempotent-secret' });
  expect([told.status, told.body.error.code]).toEqual([503, 'UNAVAILABLE']);
  const between = await effects();
  expect(between).not.toEqual(before);
  const repeat = () => world.h.request('POST', path, { key, body, headers });
  const { secretNotice, ...first } = (await repeat()).body.data;
  expect([secretNotice, first[field]]).toEqual([undefined, expect.stringMatching(/^(ank_|whsec_|0x).{40,}/)]);
  expect((await repeat()).body.data).toEqual({ ...first, [field]: null, secretNotice: expect.any(String) });
  expect(await effects()).toEqual(between);
}

/** These say or look at the same again, or find what there is. */
const changesNothing = new Set<string>([
  'heartbeat',
  'verifyIdentity',
  'createTreasury',
  'claimToken',
  'linkToken',
  // Challenges are stored nowhere.
  'challenge',
  'requestWithdrawal',
  'claimWallet',
  // It only asks the endpoint.
  'testEndpoint',
  // The agent has earned nothing: its earnings are collected in payments/collect.test.ts.
  'collectEarnings',
]);

/** What tells the time of the call, and what has gone on since, aside. */
function stable(name: string, { status, lastPing, responseTime, took, ...rest }: Record<string, unknown>) {
  const { requestId, agentId, createdAt, deadline, chosen } = rest;
  const isCall = ['invokeAgent', 'invokeAuto', 'answerInput'].includes(name);
  return isCall ? { requestId, agentId, createdAt, deadline, chosen } : { ...rest, status };
}

const posts = endpoints.filter(([, row]) => takesIdempotencyKey(row) && row.auth !== 'none').map(([name]) => name);

describe('a call whose process dies before it kept its answer, repeated under its Idempotency-Key, is the same one:', () => {
  it.each(posts.filter((name) => name !== 'depositToTreasury'))('%s', async (name: EndpointName) => {
    const row = endpoints.find(([known]) => known === name)?.[1];
    if (!row) throw new Error(name);
    const { key, params, body } = validCalls[name](world);
    const call = { path: pathOf(row, params), key, body };
    // What `validCalls` asks to verify shows no secret.
    if (row.shownOnce && name !== 'verifyIdentity') await expectShownOnce(call, name, row.shownOnce.field);
    else await expectOnce(call, name);
  });

  it('depositToTreasury, paid', async () => {
    const { h, owner, treasuryId } = world;
    const call = { path: '/payments/treasury/deposit', key: owner.key, body: { amount: '0.5', treasuryId } };
    const wallet = await h.newWallet(1_000_000n);
    const asked = await h.request('POST', call.path, call);
    await expectOnce({ ...call, headers: await payV2(h, wallet, asked) }, 'deposit');
    expect(await h.usdcOf(wallet.address)).toBe(500_000n);
  });

  it('depositToTreasury, repeated with another payment, takes the first', async () => {
    const { h, owner, treasuryId } = world;
    const call = { key: owner.key, body: { amount: '0.25', treasuryId } };
    const path = '/payments/treasury/deposit';
    const headers = { 'idempotency-key': 'two-deposits' };
    const wallet = await h.newWallet(1_000_000n);
    const offers = [
      await h.request('POST', path, { ...call, headers }),
      await h.request('POST', path, { ...call, headers }),
    ];
    const [first, second] = await Promise.all(offers.map((offer) => payV2(h, wallet, offer)));
    const told = await callAndDie(h, path, { ...call, headers: { ...headers, ...first } });
    expect(told.status).toBe(200);
    for (const shown of [second, {}]) {
      const again = await h.request('POST', path, { ...call, headers: { ...headers, ...shown } });
      expect(again.body.data).toEqual(told.body.data);
      expect(again.headers.get('payment-response')).toBe(told.headers.get('payment-response'));
    }
    expect(await h.usdcOf(wallet.address)).toBe(750_000n);
  });

  it('invokeAgent, paid by x402', async () => {
    const { h } = world;
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const call = { path: `/invoke/${world.agent.id}`, key, body: { task: 'paid' } };
    const headers = await payV2(h, wallet, await h.request('POST', call.path, call));
    const calls = world.agent.calls.length;
    await expectOnce({ ...call, headers }, 'invokeAgent');
    expect([await h.usdcOf(wallet.address), world.agent.calls.length - calls]).toEqual([950_000n, 1]);
  });

  it('invokeAgent, asynchronous and ended since: the answer is the stored record with its result', async () => {
    const { h, owner } = world;
    const call = { key: owner.key, body: { task: 'async' }, headers: { 'idempotency-key': 'ended-meanwhile' } };
    const path = `/invoke/${world.strangersAgent.id}`;
    const told = await callAndDie(h, path, call);
    expect(told.body.data).toMatchObject({ status: 'processing', estimatedCost: expect.any(String) });
    const { requestId } = told.body.data;
    const record = await untilEnded(h, owner.key, requestId);
    const again = await h.request('POST', path, call);
    expect(again.body.data).toEqual(record);
    expect(again.body.data).toMatchObject({ requestId, status: 'completed', result: expect.anything() });
  });

  it('testWebhook, when it dies before it could record what it sent: the receiver is sent the same event again', async () => {
    const { h, owner } = world;
    const receiver = await startReceiver();
    // What other tests here have caused is none of its business, whenever it is sent.
    const body = { url: receiver.url, eventTypes: ['network.node_left'] };
    const made = await h.request('POST', '/account/webhooks', { key: owner.key, body });
    const path = `/account/webhooks/${made.body.data.webhookId}/test`;
    const call = { key: owner.key, headers: { 'idempotency-key': `unrecorded-${made.body.data.webhookId}` } };
    expect((await callAndDie(h, path, call, { before: 'transaction' })).status).toBe(500);
    const again = await h.request('POST', path, call);
    expect(again.body.data).toMatchObject({ status: 'delivered', eventId: receiver.received[0]?.id });
    expect(receiver.received.map(({ id }) => id)).toEqual(Array(2).fill(again.body.data.eventId));
  });

  it('heartbeat, when the agent has reported otherwise meanwhile: the later report stands', async () => {
    const { h } = world;
    const agent = await startTestAgent(h);
    const path = `/agents/${agent.id}/heartbeat`;
    const call = { key: agent.identityToken, body: { accepting: true, load: 0.25 } };
    const headers = { 'idempotency-key': 'the-first-report' };
    const told = await callAndDie(h, path, { ...call, headers });
    expect(told.status).toBe(200);
    await h.request('POST', path, { ...call, body: { accepting: false, load: 0.75 } });
    const again = await h.request('POST', path, { ...call, headers });
    expect(again.body.data).toEqual(told.body.data);
    const reported = 'select is_accepting, reported_load::float8 as load from agent where id = $1';
    expect((await h.ctx.db.pool.query(reported, [agent.id])).rows).toEqual([{ is_accepting: false, load: 0.75 }]);
    await agent.die();
  });

  it('verifyIdentity, asked for a challenge and given its signature', async () => {
    const { h } = world;
    const wallet = privateKeyToAccount(generatePrivateKey());
    const account = await openAccount(h.ctx, { address: wallet.address, plan: 'enterprise', isWalletProven: false });
    const { apiKey: key } = await issueApiKey(h.ctx, {
      ...{ accountId: account.accountId, name: 'test', expiresAt: null },
      scopes: ['agents:write'],
    });
    const agent = await startTestAgent(h, { owner: { ...account, key } });
    const ask = { path: '/identity/verify', key, body: { agentId: agent.id, proof: 'wallet' } };
    await expectOnce(ask, 'challenge');
    const { challengeId, message } = (await h.request('POST', ask.path, ask)).body.data;
    const body = { challengeId, signature: await wallet.signMessage({ message }) };
    await expectOnce({ ...ask, body }, 'signed');
    await agent.die();
  });
});
