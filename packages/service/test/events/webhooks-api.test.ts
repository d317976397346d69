import { eventEnvelope } from '@agent-network/contracts/events';
import { Payment } from '@agent-network/contracts/payments/payments';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Harness, TestAccount } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, startTestAgent } from '../support/test-agent.ts';
import { payV2 } from '../support/x402-payer.ts';
import { answer, startReceiver } from './support/receiver.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await borrowHarness();
});
afterAll(() => harness.stop());

const call = (owner: TestAccount, method: string, path: string, body?: unknown) =>
  harness.request(method, path, { key: owner.key, ...(body === undefined ? {} : { body }) });

async function withWebhook(input: Record<string, unknown> = {}) {
  const owner = await harness.newAccount();
  const receiver = await startReceiver();
  const { status, body } = await call(owner, 'POST', '/account/webhooks', { url: receiver.url, ...input });
  expect(status).toBe(200);
  const webhook = body.data as { webhookId: string; secret: string };
  const path = `/account/webhooks/${webhook.webhookId}`;
  const deliveries = async (query = '') => (await call(owner, 'GET', `${path}/deliveries${query}`)).body.data;
  return { owner, receiver, webhook, path, deliveries };
}

test('an endpoint is created, listed, changed, disabled, enabled and deleted', async () => {
  const { owner, receiver, webhook, path } = await withWebhook({ eventTypes: ['agent.online', 'agent.online'] });
  const shown = { webhookId: webhook.webhookId, url: receiver.url, eventTypes: ['agent.online'], status: 'enabled' };
  expect((await call(owner, 'GET', '/account/webhooks')).body.data.webhooks).toMatchObject([shown]);
  expect(webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect((await call(owner, 'GET', `${path}/secret`)).body.data.secret).toBe(webhook.secret);

  const change = async (body: unknown) => (await call(owner, 'PUT', path, body)).body.data;
  expect(await change({ eventTypes: null, description: 'all' })).toMatchObject({
    eventTypes: null,
    description: 'all',
  });
  expect(await change({ status: 'disabled' })).toMatchObject({ status: 'disabled', disabledReason: null });
  expect(await change({ status: 'enabled', url: 'http://127.0.0.1:1/x' })).toMatchObject({
    status: 'enabled',
    url: 'http://127.0.0.1:1/x',
  });
  const deleted = { webhookId: webhook.webhookId, deleted: true };
  expect((await call(owner, 'DELETE', path)).body.data).toEqual(deleted);
  expect((await call(owner, 'DELETE', path)).status).toBe(404);
  expect((await call(owner, 'GET', '/account/webhooks')).body.data.webhooks).toEqual([]);
});

test.each([
  ['no URL', {}],
  ['another protocol', { url: 'ftp://example.com/' }],
  ['a password in the URL', { url: 'http://user:secret@example.com/' }],
  ['an address that is never allowed', { url: 'http://169.254.169.254/latest' }],
  ['a URL that is too long', { url: `https://example.com/${'x'.repeat(3000)}` }],
  ['no event types at all', { url: 'https://example.com/', eventTypes: [] }],
  ['an event type that does not exist', { url: 'https://example.com/', eventTypes: ['agent.exploded'] }],
  ['a description that is too long', { url: 'https://example.com/', description: 'x'.repeat(201) }],
])('refused for an endpoint: %s', async (_what, body) => {
  const owner = await harness.newAccount();
  const refused = await call(owner, 'POST', '/account/webhooks', body);
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
  const { webhookId } = (await call(owner, 'POST', '/account/webhooks', { url: 'https://example.com/' })).body.data;
  if ('url' in body) expect((await call(owner, 'PUT', `/account/webhooks/${webhookId}`, body)).status).toBe(400);
});

test('an account has at most twenty endpoints, also when they are created at once', async () => {
  const owner = await harness.newAccount();
  const create = () => call(owner, 'POST', '/account/webhooks', { url: 'https://example.com/hook' });
  const statuses = (await Promise.all(Array.from({ length: 24 }, create))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 409)).toHaveLength(4);
});

test('other people’s endpoints, and those that never were, are not found', async () => {
  const { webhook } = await withWebhook();
  const stranger = await harness.newAccount();
  for (const id of [webhook.webhookId, 'whk_never']) {
    const path = `/account/webhooks/${id}`;
    const answers = await Promise.all([
      call(stranger, 'PUT', path, { description: 'mine' }),
      call(stranger, 'DELETE', path),
      call(stranger, 'GET', `${path}/secret`),
      call(stranger, 'POST', `${path}/rotate`),
      call(stranger, 'POST', `${path}/test`),
      call(stranger, 'GET', `${path}/deliveries`),
      call(stranger, 'POST', `${path}/replay`, { since: '2026-01-01T00:00:00Z' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(404));
  }
});

test('webhooks and events need a key with the scope; an agent has no part in them', async () => {
  const without = await harness.newAccount({ scopes: ['invoke'] });
  const owner = await harness.newAccount();
  const agent = await startTestAgent(harness, { owner });
  for (const path of ['/account/webhooks', '/events', '/account/webhooks/account/secret']) {
    expect((await harness.request('GET', path)).status).toBe(401);
    expect((await harness.request('GET', path, { key: without.key })).status).toBe(403);
    expect((await harness.request('GET', path, { key: agent.identityToken })).status).toBe(403);
  }
  await agent.die();
});

test('a test event is sent at once, once, and shown with its attempt; it verifies', async () => {
  const { owner, receiver, webhook, path, deliveries } = await withWebhook();
  const passed = (await call(owner, 'POST', `${path}/test`)).body.data;
  expect(passed).toMatchObject({ type: 'webhook.test', status: 'delivered', attempts: [{ status: 200, error: null }] });
  const [told] = receiver.received;
  expect(new Webhook(webhook.secret).verify(told?.text ?? '', told?.headers ?? {})).toEqual(passed.payload);
  expect(told?.id).toBe(passed.eventId);

  receiver.react(answer(500, {}, 'no'));
  const failed = (await call(owner, 'POST', `${path}/test`)).body.data;
  expect(failed).toMatchObject({ status: 'failed', nextAttemptAt: null, attempts: [{ status: 500, response: 'no' }] });
  expect(await deliveries()).toEqual({ deliveries: [failed, passed], total: 2, hasMore: false });
  expect(await deliveries('?status=delivered')).toMatchObject({ deliveries: [passed], total: 1 });
  expect(await deliveries('?status=pending')).toMatchObject({ deliveries: [], total: 0 });
  expect(await deliveries('?limit=1&offset=0')).toMatchObject({ deliveries: [failed], total: 2, hasMore: true });
  expect((await call(owner, 'POST', '/account/webhooks/account/test')).status).toBe(400);
});

test('one delivery is replayed with the same id and bytes, as often as one likes', async () => {
  const { owner, receiver, path, deliveries } = await withWebhook({ eventTypes: ['agent.online'] });
  const agent = await startTestAgent(harness, { owner });
  await expect.poll(async () => (await deliveries()).deliveries[0]?.status).toBe('delivered');
  const [delivery] = (await deliveries()).deliveries;
  for (const times of [2, 3]) {
    const replayed = await call(owner, 'POST', `${path}/replay`, { deliveryId: delivery.deliveryId });
    expect(replayed.body.data).toMatchObject({ replayed: 1 });
    await expect.poll(() => receiver.received.length).toBe(times);
  }
  expect(new Set(receiver.received.map(({ id, text }) => id + text)).size).toBe(1);
  await expect.poll(async () => (await deliveries()).deliveries[0].attempts.length).toBe(3);
  expect((await call(owner, 'POST', `${path}/replay`, { deliveryId: 'dlv_never' })).status).toBe(404);
  expect((await call(owner, 'POST', `${path}/replay`, {})).status).toBe(400);
  await agent.die();
});

test('of a delivery that is replayed again and again, the latest twenty attempts are kept; earlier answers are listed in part', async () => {
  const { owner, receiver, path, deliveries } = await withWebhook();
  receiver.react(answer(200, {}, 'y'.repeat(5000)));
  const { deliveryId } = (await call(owner, 'POST', `${path}/test`)).body.data;
  const { db } = harness.ctx;
  await db.query('', 'update webhook_delivery set attempts = 30 where id = $1', [deliveryId]);
  await db.query(
    '',
    `insert into webhook_attempt (delivery_id, number, at, duration_ms, response)
     select $1, number, now(), 1, repeat('x', 5000) from generate_series(2, 30) as number`,
    [deliveryId],
  );
  expect((await call(owner, 'POST', `${path}/replay`, { deliveryId })).body.data).toMatchObject({ replayed: 1 });
  const attempts = async (): Promise<{ number: number; response: string }[]> =>
    (await deliveries()).deliveries[0].attempts;
  await expect.poll(async () => (await attempts()).at(-1)?.number).toBe(31);
  const listed = await attempts();
  expect(listed.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, nth) => nth + 12));
  expect(listed.map(({ response }) => response.length)).toEqual([...Array(19).fill(1024), 5000]);
  const kept = 'select count(*)::int as kept from webhook_attempt where delivery_id = $1';
  expect(await db.query('', kept, [deliveryId])).toEqual([{ kept: 20 }]);
});

test('all deliveries that were given up are sent again at once, with the same ids; others are left alone', async () => {
  const { owner, receiver, path, deliveries } = await withWebhook();
  for (let at = 0; at < 3; at++) await call(owner, 'POST', `${path}/test`);
  await expect.poll(() => receiver.received.length).toBe(3);
  const made = (await deliveries()).deliveries as { deliveryId: string; eventId: string }[];
  const [kept, ...given] = made.map(({ deliveryId }) => deliveryId);
  await harness.ctx.db.pool.query("update webhook_delivery set state = 'failed' where id = any($1)", [given]);
  const other = await withWebhook();
  await call(other.owner, 'POST', `${other.path}/test`);
  await harness.ctx.db.pool.query("update webhook_delivery set state = 'failed' where webhook_id = $1", [
    other.webhook.webhookId,
  ]);
  expect((await call(owner, 'POST', `${path}/replay`, { status: 'failed' })).body.data).toMatchObject({ replayed: 2 });
  await expect.poll(async () => (await deliveries('?status=delivered')).total).toBe(3);
  expect(receiver.received.length).toBe(5);
  const again = receiver.received.slice(3).map(({ id }) => id);
  expect(again.sort()).toEqual(
    made
      .filter(({ deliveryId }) => deliveryId !== kept)
      .map(({ eventId }) => eventId)
      .sort(),
  );
  expect((await call(owner, 'POST', `${path}/replay`, { status: 'failed' })).body.data).toMatchObject({ replayed: 0 });
  expect((await other.deliveries('?status=failed')).total).toBe(1);
  expect((await call(owner, 'POST', `${path}/replay`, { status: 'delivered' })).status).toBe(400);
});

test('a replay since then delivers the events that an endpoint missed while it was disabled', async () => {
  const { owner, receiver, path } = await withWebhook();
  const since = new Date().toISOString();
  await call(owner, 'PUT', path, { status: 'disabled' });
  const agent = await startTestAgent(harness, { owner });
  const refused = await call(owner, 'POST', `${path}/replay`, { since });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
  await call(owner, 'PUT', path, { status: 'enabled' });
  expect(receiver.received).toHaveLength(0);
  const replayed = (await call(owner, 'POST', `${path}/replay`, { since })).body.data.replayed;
  expect(replayed).toBeGreaterThanOrEqual(2);
  await expect.poll(() => receiver.received.length).toBe(replayed);
  const told = receiver.received.map(({ id, body }) => ({ eventId: id, type: body.type }));
  const events = async () => (await call(owner, 'GET', '/events?limit=100')).body.data.events;
  await expect.poll(events).toMatchObject(told);
  await agent.die();
});

test('the life of an agent is told of: verified and online, offline, removed', async () => {
  const { owner, receiver } = await withWebhook();
  const agent = await startTestAgent(harness, { owner });
  const types = () => receiver.received.map(({ body }) => body.type);
  await expect.poll(types).toEqual(['agent.verified', 'agent.online']);
  expect(receiver.received[1]?.body.data).toMatchObject({ id: agent.id, online: true, verified: true });
  const busy = { key: agent.identityToken, body: { accepting: false } };
  expect((await harness.request('POST', `/agents/${agent.id}/heartbeat`, busy)).status).toBe(200);
  await expect.poll(types).toContain('agent.offline');
  const removed = (await call(owner, 'DELETE', `/agents/${agent.id}`)).body.data;
  await expect.poll(types).toEqual(['agent.verified', 'agent.online', 'agent.offline', 'agent.removed']);
  expect(receiver.received[3]?.body.data).toEqual(removed);
  await agent.die();
});

test('a request with a webhookUrl is told of when it has ended, with the object that GET answers with', async () => {
  const { owner: client, receiver } = await withWebhook({ eventTypes: ['invocation.completed', 'invocation.failed'] });
  const own = await startReceiver();
  const agent = await startTestAgent(harness, { perRequest: '0' });
  const body = { task: 'say hello', webhookUrl: own.url };
  const { requestId } = (await call(client, 'POST', `/invoke/${agent.id}`, body)).body.data;
  await expect.poll(() => own.received.length).toBe(1);
  await expect.poll(() => receiver.received.length).toBe(1);
  const { secret } = (await call(client, 'GET', '/account/webhooks/account/secret')).body.data;
  const record = (await call(client, 'GET', `/invoke/${requestId}`)).body.data;
  const [told] = own.received;
  const verified = new Webhook(secret).verify(told?.text ?? '', told?.headers ?? {});
  expect(verified).toMatchObject({ type: 'invocation.completed', data: record });
  expect(receiver.received[0]).toMatchObject({ id: told?.id, text: told?.text });
  const { deliveries } = (await call(client, 'GET', '/account/webhooks/account/deliveries')).body.data;
  expect(deliveries).toMatchObject([{ url: own.url, type: 'invocation.completed', payload: { data: record } }]);
  await agent.die();
});

test('payments are told of as the history shows them: confirmed when they came in, refunded when they went back', async () => {
  const { owner, receiver } = await withWebhook({ eventTypes: ['payment.confirmed', 'payment.refunded'] });
  const agent = await startTestAgent(harness, { behaviour: answerWith(500, { error: { code: 'X', message: 'no' } }) });
  const wallet = await harness.newWallet();
  const body = { task: 'fail' };
  const unpaid = await call(owner, 'POST', `/invoke/${agent.id}`, body);
  const headers = await payV2(harness, wallet, unpaid);
  const paid = await harness.request('POST', `/invoke/${agent.id}`, { key: owner.key, body, headers });
  expect(paid.body.data.status).toBe('failed');
  await expect
    .poll(() => receiver.received.map(({ body: { type } }) => type))
    .toEqual(['payment.confirmed', 'payment.refunded']);
  const { payments } = (await call(owner, 'GET', '/payments/history')).body.data;
  const told = receiver.received.map((each) => each.body.data);
  expect(told.map(({ type }) => type)).toEqual(['x402', 'refund']);
  // The history says besides where the money went.
  const shown = payments.map((payment: object) => Payment.parse(payment)) as Payment[];
  expect(shown.sort((a, b) => b.type.localeCompare(a.type))).toEqual(told);
  await agent.die();
});

test('events that are sent are of the schema that their type declares', async () => {
  const { owner, receiver } = await withWebhook();
  const agent = await startTestAgent(harness, { owner, perRequest: '0' });
  await call(owner, 'POST', `/invoke/${agent.id}`, { task: 'say hello' });
  await expect.poll(() => receiver.received.map(({ body }) => body.type)).toContain('invocation.completed');
  await call(owner, 'DELETE', `/agents/${agent.id}`);
  await expect.poll(() => receiver.received.map(({ body }) => body.type)).toContain('agent.removed');
  for (const { body } of receiver.received) expect(eventEnvelope(body.type).parse(body)).toEqual(body);
  await agent.die();
});
