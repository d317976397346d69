import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listDeliveries } from '../../src/events/deliveries/list-deliveries.ts';
import { emit } from '../../src/events/outbox/outbox.ts';
import { readWebhookSecret, rotateWebhookSecret, updateWebhook } from '../../src/events/webhooks/manage-webhooks.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { openEventWorld } from './support/event-world.ts';
import { answer, startReceiver } from './support/receiver.ts';
import { BASE_URL, happened } from './support/sample-event.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

/** A world with an account and an endpoint whose receiver is ours. */
async function setUp(options: Parameters<ReturnType<typeof openEventWorld>['startDispatcher']>[0] = {}) {
  const world = openEventWorld(database.url);
  const receiver = await startReceiver();
  const { accountId } = await world.newAccount();
  const { webhookId, secret } = await world.newEndpoint(accountId, receiver.url);
  const webhookDispatcher = await world.startDispatcher(options);
  const log = () => world.deliveries(accountId, webhookId);
  const attemptsOf = async () => (await log()).deliveries[0]?.attempts.map(({ status }) => status) ?? [];
  const advance = (ms: number) => {
    world.ctx.clock.advance(ms);
    webhookDispatcher.requestRun();
  };
  return { world, receiver, accountId, webhookId, secret, webhookDispatcher, log, attemptsOf, advance };
}

test('a receiver that fails twice and recovers gets the same bytes under the same id, and then no more', async () => {
  const { world, receiver, accountId, secret, log, attemptsOf, advance } = await setUp();
  receiver.react(answer(500, {}, 'out of order'));
  await world.emit(happened(accountId, 'agt_7'));
  await expect.poll(attemptsOf).toEqual([500]);
  advance(4.9 * SECOND);
  expect(receiver.received).toHaveLength(1);
  advance(0.7 * SECOND);
  await expect.poll(attemptsOf).toEqual([500, 500]);
  receiver.react(answer(200));
  advance(6 * 60 * SECOND);
  await expect.poll(attemptsOf).toEqual([500, 500, 200]);
  advance(3 * DAY);
  await world.emit(happened(accountId, 'agt_8'));
  await expect.poll(() => receiver.received.length).toBe(4);

  const [first, second, third] = receiver.received;
  expect(new Set([first?.id, second?.id, third?.id]).size).toBe(1);
  expect(new Set([first?.text, second?.text, third?.text]).size).toBe(1);
  expect(new Webhook(secret).verify(first?.text ?? '', first?.headers ?? {})).toEqual(first?.body);
  expect(first?.body).toMatchObject({ type: 'agent.online', data: { id: 'agt_7' } });
  expect((await log()).deliveries[1]).toMatchObject({
    status: 'delivered',
    nextAttemptAt: null,
    attempts: [{ status: 500, response: 'out of order' }, { status: 500 }, { status: 200, response: 'thanks' }],
  });
});

test('a signature of another secret, and one over changed bytes, does not verify', async () => {
  const { world, receiver, accountId, secret } = await setUp();
  await world.emit(happened(accountId));
  await expect.poll(() => receiver.received.length).toBe(1);
  const { text = '', headers = {} } = receiver.received[0] ?? {};
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  expect(() => new Webhook(other).verify(text, headers)).toThrow();
  expect(() => new Webhook(secret).verify(text.replace('agt_1', 'agt_2'), headers)).toThrow();
});

test('first attempts come in the order of the events, whatever the order of their commits', async () => {
  const { world, receiver, accountId } = await setUp();
  const writers = Array.from({ length: 40 }, (_, writer) =>
    world.db.transaction(async (tx) => {
      await emit(tx, [happened(accountId, `agt_${writer}_1`)], world.ctx.clock.now());
      await tx.query('pause', 'select pg_sleep($1)', [Math.random() / 50]);
      await emit(tx, [happened(accountId, `agt_${writer}_2`)], world.ctx.clock.now());
    }),
  );
  await Promise.all(writers);
  await expect.poll(() => receiver.received.length).toBe(80);
  const sequences = receiver.received.map(({ headers }) => Number(headers['webhook-sequence']));
  expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(80);
});

test('several processes deliver each event once, and never the same one at the same moment', async () => {
  const { world, receiver, accountId } = await setUp();
  await world.startDispatcher();
  await world.startDispatcher();
  const others = await Promise.all(Array.from({ length: 4 }, () => world.newAccount()));
  for (const other of others) await world.newEndpoint(other.accountId, receiver.url);
  receiver.react((response) => setTimeout(() => response.end('ok'), 3));
  const accounts = [accountId, ...others.map((other) => other.accountId)];
  const events = Array.from({ length: 100 }, (_, n) => happened(accounts[n % accounts.length] as string, `agt_${n}`));
  for (const event of events) await world.emit(event);
  await expect.poll(() => new Set(receiver.received.map(({ id }) => id)).size).toBe(100);
  expect(receiver.received).toHaveLength(100);
  expect(receiver.mostAtOnce()).toBe(1);
});

test('a slow endpoint delays neither other endpoints nor its own next event by more than a second', async () => {
  const { world, receiver, accountId } = await setUp();
  const quick = await startReceiver();
  await world.newEndpoint(accountId, quick.url);
  receiver.react(() => undefined);
  await world.emit(happened(accountId, 'agt_1'), happened(accountId, 'agt_2'));
  await expect.poll(() => quick.received.length).toBe(2);
  await expect.poll(() => receiver.received.length).toBe(2);
});

test('Retry-After of a 429 is honoured for all that waits for the endpoint', async () => {
  const { world, receiver, accountId, log, advance } = await setUp();
  receiver.react(answer(429, { 'retry-after': '120' }));
  await world.emit(happened(accountId, 'agt_1'), happened(accountId, 'agt_2'));
  await expect.poll(async () => (await log()).deliveries.some(({ attempts }) => attempts.length === 1)).toBe(true);
  receiver.react(answer(200));
  advance(110 * SECOND);
  await world.emit(happened(accountId, 'agt_3'));
  await expect.poll(async () => (await log()).total).toBe(3);
  expect(receiver.received).toHaveLength(1);
  advance(11 * SECOND);
  await expect.poll(async () => (await log()).deliveries.every(({ status }) => status === 'delivered')).toBe(true);
  expect(receiver.received).toHaveLength(4);
});

test('410 disables the endpoint at once: the reason can be read, and what waited ends', async () => {
  const { world, receiver, accountId, webhookId, log } = await setUp();
  receiver.react(answer(410));
  await world.emit(happened(accountId, 'agt_1'), happened(accountId, 'agt_2'));
  await expect.poll(async () => (await log()).deliveries.map(({ status }) => status)).toEqual(['failed', 'failed']);
  await world.emit(happened(accountId, 'agt_3'));
  const quick = await startReceiver();
  await world.newEndpoint(accountId, quick.url);
  await world.emit(happened(accountId, 'agt_4'));
  await expect.poll(() => quick.received.length).toBe(1);
  expect(receiver.received).toHaveLength(1);
  const updated = await updateWebhook(world.ctx, { accountId }, webhookId, { description: 'mine' });
  expect(updated).toMatchObject({ status: 'disabled', disabledReason: 'The endpoint answered 410 Gone.' });
});

test('five days of nothing but failures disable an endpoint; enabling it again begins anew', async () => {
  const { world, receiver, accountId, webhookId, attemptsOf, advance, log } = await setUp();
  receiver.react(answer(500));
  await world.emit(happened(accountId, 'agt_1'));
  await expect.poll(attemptsOf).toEqual([500]);
  for (const [index, hours] of [0.1, 0.2, 0.7, 2.5, 6, 12, 16, 23, 27].entries()) {
    advance(hours * HOUR);
    await expect.poll(attemptsOf).toHaveLength(index + 2);
  }
  expect((await log()).deliveries[0]).toMatchObject({ status: 'failed', nextAttemptAt: null });
  const change = (body: Parameters<typeof updateWebhook>[3]) =>
    updateWebhook(world.ctx, { accountId }, webhookId, body);
  expect(await change({ description: 'still here' })).toMatchObject({ status: 'enabled' });
  advance(2 * DAY);
  await world.emit(happened(accountId, 'agt_2'));
  await expect.poll(async () => (await change({ description: 'and now' })).status).toBe('disabled');
  expect((await change({ description: 'why' })).disabledReason).toMatch(/five days/);
  expect(await change({ status: 'enabled' })).toMatchObject({ status: 'enabled', disabledReason: null });
  await world.emit(happened(accountId, 'agt_3'));
  await expect
    .poll(async () => (await log()).deliveries.map(({ status }) => status).sort())
    .toEqual(['failed', 'failed', 'pending']);
});

test('one success between failures keeps an endpoint for another five days', async () => {
  const { world, receiver, accountId, webhookId, attemptsOf, advance } = await setUp();
  receiver.react((response, { body }) => answer(body.data.id === 'good' ? 200 : 500)(response, body));
  await world.emit(happened(accountId, 'bad'), happened(accountId, 'good'));
  await expect.poll(() => receiver.received.length).toBe(2);
  advance(6 * DAY);
  await expect.poll(() => receiver.received.length).toBe(3);
  await world.emit(happened(accountId, 'bad'));
  await expect.poll(attemptsOf).toEqual([500]);
  const webhook = await updateWebhook(world.ctx, { accountId }, webhookId, { description: 'x' });
  expect(webhook.status).toBe('enabled');
});

test('during the overlap of a rotation both secrets verify, afterwards only the new one', async () => {
  const { world, receiver, accountId, webhookId, secret, advance } = await setUp();
  const rotate = () => rotateWebhookSecret(world.ctx, { accountId }, webhookId);
  const rotated = await rotate();
  await expect(rotate()).rejects.toMatchObject({ code: 'CONFLICT' });
  await world.emit(happened(accountId, 'agt_1'));
  await expect.poll(() => receiver.received.length).toBe(1);
  const { text = '', headers = {} } = receiver.received[0] ?? {};
  for (const each of [secret, rotated.secret]) expect(new Webhook(each).verify(text, headers)).toBeDefined();
  advance(DAY + SECOND);
  await world.emit(happened(accountId, 'agt_2'));
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  expect(receiver.received[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  expect(await readWebhookSecret(world.ctx, { accountId }, webhookId)).toEqual({ webhookId, secret: rotated.secret });
  expect((await rotate()).secret).not.toBe(rotated.secret);
});

test('the URL of a single request gets its own event only, signed with the secret of the account', async () => {
  const { world, receiver, accountId } = await setUp();
  const own = await startReceiver();
  await world.emit(happened(accountId, 'req_1', { webhookUrl: own.url }), happened(accountId, 'req_2'));
  await expect.poll(() => receiver.received.length).toBe(2);
  await expect.poll(() => own.received.length).toBe(1);
  const { secret } = await readWebhookSecret(world.ctx, { accountId }, 'account');
  const [told] = own.received;
  expect(new Webhook(secret).verify(told?.text ?? '', told?.headers ?? {})).toMatchObject({ data: { id: 'req_1' } });
  expect(told?.id).toBe(receiver.received[0]?.id);
  const delivered = [{ url: own.url, status: 'delivered' }];
  await expect
    .poll(async () => (await world.deliveries(accountId, 'account')).deliveries, { interval: 5 })
    .toMatchObject(delivered);
});

test('of large bodies a megabyte is sent at once, each once', async () => {
  const { world, accountId } = await setUp();
  const own = await startReceiver();
  const open: (() => void)[] = [];
  let mostOpen = 0;
  own.react((response) => {
    open.push(() => response.end('ok'));
    mostOpen = Math.max(mostOpen, open.length);
  });
  const large = (_: unknown, n: number) =>
    happened(accountId, `req_${n}`, { webhookUrl: own.url, data: { id: n, text: 'x'.repeat(200 * 1024) } });
  await world.emit(...Array.from({ length: 12 }, large));
  await expect.poll(() => open.length).toBe(5);
  while (own.received.length < 12 || open.length > 0) {
    await expect.poll(() => open.length).toBeGreaterThan(0);
    open.shift()?.();
  }
  expect(mostOpen).toBe(5);
  expect(new Set(own.received.map(({ id }) => id)).size).toBe(12);
});

test('a page of deliveries has about a megabyte of bodies, however large they are, and the next one begins behind it', async () => {
  const { world, receiver, accountId, webhookId } = await setUp();
  const large = (_: unknown, n: number) =>
    happened(accountId, `agt_${n}`, { data: { id: n, text: 'x'.repeat(200 * 1024) } });
  await world.emit(...Array.from({ length: 12 }, large));
  await expect.poll(() => receiver.received.length).toBe(12);
  const page = (offset: number) => listDeliveries(world.ctx, { accountId }, webhookId, { limit: 100, offset });
  const first = await page(0);
  const second = await page(first.deliveries.length);
  const pages = [first, second];
  expect(pages.map(({ deliveries, total, hasMore }) => [deliveries.length, total, hasMore])).toEqual([
    [6, 12, true],
    [6, 12, false],
  ]);
  const ids = pages.flatMap(({ deliveries }) => deliveries.map(({ deliveryId }) => deliveryId));
  expect(new Set(ids).size).toBe(12);
});

test('410 from the URL of a single request ends that delivery and no other', async () => {
  const { world, accountId } = await setUp();
  const own = await startReceiver();
  own.react(answer(410));
  await world.emit(happened(accountId, 'req_1', { webhookUrl: own.url }));
  const states = async () => (await world.deliveries(accountId, 'account')).deliveries.map(({ status }) => status);
  await expect.poll(states).toEqual(['failed']);
  own.react(answer(200));
  await world.emit(happened(accountId, 'req_2', { webhookUrl: own.url }));
  await expect.poll(states).toEqual(['delivered', 'failed']);
});

test('an event without data carries the object as it is read; a large result is left out and its address given', async () => {
  const results: Record<string, unknown> = { req_small: 'done', req_large: 'x'.repeat(300 * 1024) };
  const { world, receiver, accountId } = await setUp({
    readSubject: async ({ subjectId }) => ({ requestId: subjectId, status: 'completed', result: results[subjectId] }),
  });
  const ended = (id: string) => happened(accountId, id, { type: 'invocation.completed', data: null });
  await world.emit(ended('req_small'), ended('req_large'));
  await expect.poll(() => receiver.received.length).toBe(2);
  const [small, large] = receiver.received.map(({ body }) => body.data);
  expect(small).toEqual({ requestId: 'req_small', status: 'completed', result: 'done' });
  expect(large).toEqual({ requestId: 'req_large', status: 'completed', resultUrl: `${BASE_URL}/invoke/req_large` });
});

test('an event with a temporarily unreadable object is sent later, and does not count as a failure of the endpoint', async () => {
  let isAway = true;
  const { world, receiver, accountId, log, advance } = await setUp({
    readSubject: async () => {
      if (isAway) throw new Error('away');
      return { requestId: 'req_1' };
    },
  });
  await world.emit(happened(accountId, 'req_1', { type: 'invocation.completed', data: null }));
  await expect.poll(async () => (await log()).deliveries[0]?.attempts.length).toBe(1);
  expect((await log()).deliveries[0]?.attempts[0]).toMatchObject({ status: null, error: /could not be read/ });
  expect(receiver.received).toHaveLength(0);
  isAway = false;
  advance(6 * SECOND);
  await expect.poll(() => receiver.received.length).toBe(1);
});

test('without private endpoints a URL that leads inside is not called, and the log tells nothing of what is there', async () => {
  const { world, receiver, accountId, log } = await setUp({ allowPrivate: false });
  await world.emit(happened(accountId));
  await expect.poll(async () => (await log()).deliveries[0]?.attempts.length).toBe(1);
  const [attempt] = (await log()).deliveries[0]?.attempts ?? [];
  expect(attempt).toMatchObject({ status: null, response: null });
  expect(attempt?.error).not.toMatch(/127|ECONN|refused/);
  expect(receiver.received).toHaveLength(0);
});

test('a redirect is a failure and is not followed', async () => {
  const { world, receiver, accountId, log } = await setUp();
  const elsewhere = await startReceiver();
  receiver.react(answer(302, { location: elsewhere.url }));
  await world.emit(happened(accountId));
  await expect.poll(async () => (await log()).deliveries[0]?.attempts.length).toBe(1);
  expect((await log()).deliveries[0]).toMatchObject({ status: 'pending', attempts: [{ error: /redirect/ }] });
  expect(elsewhere.received).toHaveLength(0);
});

test('a long answer counts by its status, and its first 16 KiB are kept', async () => {
  const { world, receiver, accountId, log } = await setUp();
  receiver.react(answer(200, {}, `a\0${'b'.repeat(100_000)}`));
  await world.emit(happened(accountId));
  await expect.poll(async () => (await log()).deliveries[0]?.status).toBe('delivered');
  expect((await log()).deliveries[0]?.attempts[0]?.response).toHaveLength(16 * 1024);
});

test('an event of a rolled-back transaction is not sent', async () => {
  const { world, receiver, accountId } = await setUp();
  const undone = world.db.transaction(async (tx) => {
    await emit(tx, [happened(accountId, 'agt_undone')], world.ctx.clock.now());
    throw new Error('undo');
  });
  await expect(undone).rejects.toThrow('undo');
  await world.emit(happened(accountId, 'agt_done'));
  await expect.poll(() => receiver.received.map(({ body }) => body.data.id)).toEqual(['agt_done']);
});
