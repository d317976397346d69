import { scopes } from '@agent-network/contracts/access/scopes';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHeldKeys } from '../../../src/accounts/idempotency/held-keys.ts';
import { createApp } from '../../../src/compose/app.ts';
import { callAndDie } from '../../support/dying-process.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, result, says } from './support/streaming-agent.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
let keyCount = 0;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  client = await newClient(h, '1.00');
  agent.behave(echo);
  agent.calls.length = 0;
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const newKey = () => ({ 'idempotency-key': `key-${keyCount++}` });
const invoke = (headers: Record<string, string>, body: object = {}, key = client.key, query = '') =>
  h.request('POST', `/invoke/${agent.id}${query}`, { key, body: { task: 'x', ...body }, headers });
const replayed = (answer: { headers: Headers }) => answer.headers.get('idempotency-replayed');

describe('an Idempotency-Key', () => {
  it('with the same request gives the same answer again, says so, and does and counts nothing more', async () => {
    const key = newKey();
    const first = await invoke({ ...key, 'x-sync': 'true' });
    expect([first.status, replayed(first)]).toEqual([200, null]);
    for (let times = 0; times < 3; times++) {
      const again = await invoke({ ...key, 'x-sync': 'true' });
      expect([again.status, replayed(again), again.body]).toEqual([200, 'true', first.body]);
    }
    expect(agent.calls.length).toBe(1);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('counts one invocation, however often it is repeated', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const free = await startTestAgent(h, { perRequest: '0' });
    const headers = newKey();
    const call = () => h.request('POST', `/invoke/${free.id}`, { key, body: { task: 'x' }, headers });
    const left = [];
    for (let times = 0; times < 4; times++) left.push((await call()).headers.get('x-ratelimit-remaining'));
    expect(left).toEqual(['9', '9', '9', '9']);
    await free.die();
  });

  it('with another body, query or path is refused and does nothing', async () => {
    const key = newKey();
    await invoke(key);
    const quote = await h.request('POST', `/invoke/${agent.id}/quote`, {
      key: client.key,
      body: { task: 'x' },
      headers: key,
    });
    const { quoteId } = (await h.request('POST', `/invoke/${agent.id}/quote`, { key: client.key, body: { task: 'x' } }))
      .body.data;
    const refused = [quote, await invoke(key, { task: 'y' }), await invoke(key, {}, client.key, `?quote=${quoteId}`)];
    for (const answer of refused) {
      expect([answer.status, answer.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      expect(replayed(answer)).toBeNull();
    }
    expect(agent.calls.length).toBe(1);
  });

  it('is free whatever order the fields of the body come in, and whether defaults are spelled out', async () => {
    const key = newKey();
    const first = await h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      text: '{"task":"x","priority":"normal"}',
      headers: key,
    });
    const again = await h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      text: '{"priority":"normal", "task":"x"}',
      headers: key,
    });
    expect([again.status, replayed(again)]).toEqual([200, 'true']);
    expect(again.body).toEqual(first.body);
    expect(replayed(await invoke(key))).toBe('true');
  });

  it('while its first request runs: 409; ten at once are one run', async () => {
    const gate = Promise.withResolvers<void>();
    agent.behave(async (request, response) => {
      await gate.promise;
      await echo(request, response);
    });
    const headers = { ...newKey(), 'x-sync': 'true' };
    const ten = Array.from({ length: 10 }, () => invoke(headers));
    let refused = 0;
    for (const each of ten)
      void each.then(({ body }) => {
        if (body.error?.code === 'CONFLICT') refused += 1;
        if (refused === 9) gate.resolve();
      });
    const statuses = (await Promise.all(ten)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array(9).fill(409)]);
    expect(agent.calls.length).toBe(1);
    expect(replayed(await invoke(headers))).toBe('true');
  });

  it('belongs to the account: API keys of the same rights share it, other accounts and agents have their own', async () => {
    const headers = newKey();
    const mine = await invoke(headers);
    const spare = await h.request('POST', '/account/keys', { key: client.key, body: { name: 'spare', scopes } });
    expect((await invoke(headers, {}, spare.body.data.apiKey)).body).toEqual(mine.body);
    const other = await newClient(h, '1.00');
    const theirs = await invoke(headers, {}, other.key);
    const byAgent = await invoke(headers, {}, agent.identityToken);
    expect([theirs.status, byAgent.status].map((status) => status === 200 || status === 422)).toEqual([true, true]);
    for (const answer of [theirs, byAgent]) {
      expect(replayed(answer)).toBeNull();
      expect(answer.body.data?.requestId).not.toBe(mine.body.data.requestId);
    }
  });

  it.each([
    ['', 400],
    ['a b', 400],
    ['ü', 400],
    ['x'.repeat(256), 400],
    ['x'.repeat(255), 200],
  ])('%j answers %i', async (key, status) => {
    const answer = await invoke({ 'idempotency-key': key === 'ü' ? Buffer.from(key).toString('latin1') : key });
    expect(answer.status).toBe(status);
  });

  it('is not used up by a refusal: the repetition may succeed, also with another body', async () => {
    const headers = newKey();
    expect((await invoke(headers, { maxCost: '0.01' })).status).toBe(400);
    expect((await invoke(headers, { maxCost: '0.05' })).status).toBe(200);
  });

  it('makes something new after a day', async () => {
    const headers = newKey();
    const first = await invoke(headers);
    await untilEnded(h, client.key, first.body.data.requestId);
    for (const table of ['idempotency', 'invocation'])
      await h.ctx.db.pool.query(
        `update ${table} set created_at = created_at - interval '24 hours 1 second' where account_id = $1`,
        [client.accountId],
      );
    const second = await invoke(headers);
    expect([second.status, replayed(second)]).toEqual([200, null]);
    expect(second.body.data.requestId).not.toBe(first.body.data.requestId);
    expect(replayed(await invoke(headers))).toBe('true');
  });

  it('can be repeated at once after its process failed to store the answer or to release the key, and lives on', async () => {
    const [kept, refused] = [newKey(), newKey()];
    const call = { key: client.key, body: { task: 'x' } };
    const path = `/invoke/${agent.id}`;
    const first = await callAndDie(h, path, { ...call, headers: kept }, { isSurvived: true });
    const again = await invoke(kept);
    expect([again.status, again.body.data.requestId]).toEqual([200, first.body.data.requestId]);
    const death = { before: 'drop-idempotency-key', isSurvived: true };
    const dear = await callAndDie(h, path, { ...call, body: { task: 'x', maxCost: '0.01' }, headers: refused }, death);
    expect([dear.status, (await invoke(refused, { maxCost: '0.01' })).status]).toEqual([400, 400]);
  });

  it('that another process has taken over is no longer its first one’s: what that one still does is undone', async () => {
    const { db } = h.ctx;
    const thoughtDead: typeof db = {
      ...db,
      async transaction(fn, options) {
        await db.pool.query('update idempotency set worker = gen_random_uuid() where worker is not null');
        return db.transaction(fn, options);
      },
    };
    const headers = { ...newKey(), authorization: `Bearer ${client.key}`, 'content-type': 'application/json' };
    const body = { name: 'one of one' };
    const late = await createApp({ ...h.ctx, db: thoughtDead }).request('/account/keys', {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    });
    expect(late.status).toBe(409);
    const taken = await h.request('POST', '/account/keys', { key: client.key, body, headers });
    expect(taken.status).toBe(200);
    const { keys } = (await h.request('GET', '/account/keys', { key: client.key })).body.data;
    const made = keys.filter(({ name }: { name: string }) => name === body.name);
    expect(made.map(({ keyId }: { keyId: string }) => keyId)).toEqual([taken.body.data.keyId]);
  });

  it('that another process takes over while its first one accepts the call: both answer with one request, charged once', async () => {
    const headers = newKey();
    const { acceptor, db } = h.ctx;
    const made: string[] = [];
    const slow: typeof acceptor = {
      ...acceptor,
      async accept(acceptance) {
        const thoughtDead = 'update idempotency set worker = gen_random_uuid() where key = $1 and worker is not null';
        await db.pool.query(thoughtDead, [headers['idempotency-key']]);
        made.push((await invoke(headers)).body.data.requestId);
        return acceptor.accept(acceptance);
      },
    };
    const late = await createApp({
      ...h.ctx,
      acceptor: slow,
      heldKeys: createHeldKeys(async () => undefined),
    }).request(`/invoke/${agent.id}`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ task: 'x' }),
    });
    expect([late.status, ((await late.json()) as { data: { requestId: string } }).data.requestId]).toEqual([
      200,
      made[0],
    ]);
    expect(made).toHaveLength(1);
    expect(await untilEnded(h, client.key, made[0] ?? '')).toMatchObject({ status: 'completed' });
    expect(agent.calls.length).toBe(1);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('on a stream: the same events again from the start; another body is refused', async () => {
    agent.behave(says(chunk('a'), result('b')));
    const headers = newKey();
    const open = () =>
      openSse(h, 'POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x', stream: true }, headers });
    const first = await (await open()).rest();
    expect(problemWithStream(first)).toBeNull();
    expect(await (await open()).rest()).toEqual(first);
    const other = await invoke({ ...headers, accept: 'text/event-stream' }, { task: 'y', stream: true });
    expect(other.status).toBe(422);
    expect(agent.calls.length).toBe(1);
  });

  it('works on every other POST that makes something', async () => {
    const post = (path: string, body: unknown, headers: Record<string, string>) =>
      h.request('POST', path, { key: client.key, body, headers });
    const agentBody = { name: 'a', capabilities: ['a'], rates: { perRequest: '1' }, endpoint: 'http://127.0.0.1:1/' };
    for (const [path, body, changed] of [
      ['/account/keys', { name: 'k' }, { name: 'y' }],
      ['/agents', agentBody, { name: 'y' }],
      ['/payments/treasury', {}, { label: 'y' }],
      [`/invoke/${agent.id}/quote`, { task: 'x' }, { task: 'y' }],
      ['/invoke/bulk', { task: 'x', agents: [agent.id] }, { task: 'y' }],
    ] as const) {
      const headers = newKey();
      const first = await post(path, body, headers);
      const again = await post(path, body, headers);
      expect([path, first.status, replayed(again)]).toEqual([path, 200, 'true']);
      const secret = path === '/account/keys' ? 'apiKey' : 'identityToken';
      const isSecret = secret in first.body.data;
      const told = isSecret ? { [secret]: null, secretNotice: expect.any(String) } : {};
      expect(again.body.data).toEqual({ ...first.body.data, ...told });
      expect((await post(path, { ...body, ...changed }, headers)).status).toBe(422);
    }
  });
});

describe('a paid call under an Idempotency-Key', () => {
  it('is the same request as the 402 before it: that is not kept, and the paid answer is', async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const headers = newKey();
    const unpaid = await invoke(headers, {}, key);
    expect([unpaid.status, (await invoke(headers, {}, key)).status]).toEqual([402, 402]);
    const paid = await invoke({ ...headers, ...(await payV2(h, wallet, unpaid)) }, {}, key);
    expect(paid.body.data).toMatchObject({ status: 'completed', requestId: unpaid.body.error.payment.memo });
    const again = await invoke(headers, {}, key);
    expect([again.status, replayed(again), again.body]).toEqual([200, 'true', paid.body]);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('shown with two payments at once and one after the other takes one of them', async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const headers = newKey();
    const unpaid = [await invoke(headers, {}, key), await invoke(headers, {}, key), await invoke(headers, {}, key)];
    const payments = await Promise.all(unpaid.map((each) => payV2(h, wallet, each)));
    // The one that is taken does not end before the other has been answered.
    const refused = Promise.withResolvers<void>();
    agent.behave(async (request, response) => {
      await refused.promise;
      await echo(request, response);
    });
    const both = payments.slice(0, 2).map((pay) => invoke({ ...headers, ...pay }, {}, key));
    const first = await Promise.race(both);
    refused.resolve();
    const second = (await Promise.all(both)).find((each) => each !== first);
    const c = await invoke({ ...headers, ...payments[2] }, {}, key);
    expect([first.status, second?.status]).toEqual([409, 200]);
    expect([c.status, replayed(c)]).toEqual([200, 'true']);
    expect(agent.calls.map((call) => call.body.request_id)).toEqual([c.body.data.requestId]);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('can be paid again under the same key after its payment failed', async () => {
    const { key } = await h.newAccount();
    const poor = await h.newWallet(10_000n);
    const rich = await h.newWallet(1_000_000n);
    const headers = newKey();
    const unpaid = await invoke(headers, {}, key);
    const refused = await invoke({ ...headers, ...(await payV2(h, poor, unpaid)) }, {}, key);
    expect(refused.status).toBe(402);
    const paid = await invoke({ ...headers, ...(await payV2(h, rich, refused)) }, {}, key);
    expect(paid.body.data).toMatchObject({ status: 'completed' });
  });

  it('can be paid again under the same key after its settlement failed', async () => {
    const { key } = await h.newAccount();
    const rich = await h.newWallet(1_000_000n);
    const headers = newKey();
    const unpaid = await invoke(headers, {}, key);
    const first = await invoke({ ...headers, ...(await payV2(h, rich, unpaid)) }, {}, key);
    // As a settlement that failed would have left it.
    await h.ctx.db.pool.query(
      `update invocation set status = 'failed', error_code = 'payment_failed', error_message = 'x', result = null where id = $1`,
      [first.body.data.requestId],
    );
    await h.ctx.db.pool.query(
      'delete from idempotency where account_id = (select account_id from invocation where id = $1)',
      [first.body.data.requestId],
    );
    const offered = await invoke(headers, {}, key);
    expect(offered.status).toBe(402);
    expect(offered.body.error.payment.memo).not.toBe(first.body.data.requestId);
    const paid = await invoke({ ...headers, ...(await payV2(h, rich, offered)) }, {}, key);
    expect(paid.body.data).toMatchObject({ status: 'completed', requestId: offered.body.error.payment.memo });
  });
});

it('a paid call that names a webhookUrl is answered with the created shape, settled', async () => {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const gate = Promise.withResolvers<void>();
  agent.behave(async (_request, response) => {
    await gate.promise;
    await answerWith(200, { result: 1 })({ headers: {}, body: null }, response);
  });
  const body = { webhookUrl: 'http://127.0.0.1:1/never' };
  const unpaid = await invoke({}, body, key);
  const paid = await invoke(await payV2(h, wallet, unpaid), body, key);
  expect(Object.keys(paid.body.data).sort()).toEqual(
    [
      'requestId',
      'status',
      'estimatedCost',
      'estimatedTime',
      'deadline',
      'agentId',
      'requestedAgentId',
      'createdAt',
    ].sort(),
  );
  expect(paid.body.data.status).toBe('processing');
  expect(paid.headers.get('payment-response')).not.toBeNull();
  expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  gate.resolve();
  expect(await untilEnded(h, key, paid.body.data.requestId)).toMatchObject({ status: 'completed', result: 1 });
});
