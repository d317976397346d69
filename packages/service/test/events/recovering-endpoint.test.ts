import { afterAll, beforeAll, expect, test } from 'vitest';
import { replayWebhook } from '../../src/events/deliveries/replay-webhook.ts';
import { bringForward } from '../../src/events/deliveries/webhook-dispatcher.ts';
import { updateWebhook } from '../../src/events/webhooks/manage-webhooks.ts';
import { askDatabase } from '../support/books.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { until } from '../support/until.ts';
import { openEventWorld } from './support/event-world.ts';
import { holdDeliveries } from './support/hold-deliveries.ts';
import { answer, type Received, startReceiver } from './support/receiver.ts';
import { happened } from './support/sample-event.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const SECOND = 1000;

async function setUp() {
  const world = openEventWorld(database.url);
  const receiver = await startReceiver();
  const { accountId } = await world.newAccount();
  const { webhookId } = await world.newEndpoint(accountId, receiver.url);
  const webhookDispatcher = await world.startDispatcher();
  const deliveryOf = async (subjectId: string) => {
    const eventId = receiver.received.find((each) => subjectOf(each) === subjectId)?.id;
    const { deliveries } = await world.deliveries(accountId, webhookId);
    return deliveries.find((delivery) => delivery.eventId === eventId);
  };
  const advance = (ms: number) => {
    world.ctx.clock.advance(ms);
    webhookDispatcher.requestRun();
  };
  return { world, receiver, accountId, webhookId, webhookDispatcher, deliveryOf, advance };
}

const statuses = async (delivery: Promise<{ attempts: { status: number | null }[] } | undefined>) =>
  (await delivery)?.attempts.map(({ status }) => status) ?? [];
const subjectOf = ({ body }: Received): string => body.data.id;

/** True when nothing is being sent to an endpoint, and nothing is due. */
async function isIdle(webhookId: string, now: Date): Promise<boolean> {
  const busy = await askDatabase(
    database.url,
    `select from webhook where id = $1 and (courier is not null or due_at <= $2)
      union all select from event where needs_fan_out`,
    [webhookId, now],
  );
  return busy.length === 0;
}

test('an endpoint that answers again gets what waits for it at once, not when the schedule says', async () => {
  const { world, receiver, accountId, deliveryOf, advance } = await setUp();
  receiver.react(answer(500));
  await world.emit(happened(accountId, 'agt_a'), happened(accountId, 'agt_b'));
  await expect.poll(() => statuses(deliveryOf('agt_b'))).toEqual([500]);
  advance(6 * SECOND);
  await expect.poll(() => statuses(deliveryOf('agt_a'))).toEqual([500, 500]);
  await expect.poll(() => statuses(deliveryOf('agt_b'))).toEqual([500, 500]);
  receiver.react(answer(200));
  advance(6 * SECOND);
  await world.emit(happened(accountId, 'agt_c'));
  await expect.poll(() => statuses(deliveryOf('agt_a'))).toEqual([500, 500, 200]);
  await expect.poll(() => statuses(deliveryOf('agt_b'))).toEqual([500, 500, 200]);
  expect(receiver.received.slice(-3).map(subjectOf)).toEqual(['agt_c', 'agt_a', 'agt_b']);
});

test('deliveries of an endpoint that was away for days become due in steps, without delaying the events of others', async () => {
  const { world, receiver, accountId, webhookId, deliveryOf } = await setUp();
  const [other, quick] = [await world.newAccount(), await startReceiver()];
  await world.newEndpoint(other.accountId, quick.url);
  // Events wait ten seconds for open transactions, such as the one that holds the deliveries; these are older.
  world.ctx.clock.advance(-60 * SECOND);
  receiver.react(answer(500));
  await world.emit(happened(accountId, 'agt_a'));
  await expect.poll(() => statuses(deliveryOf('agt_a'))).toEqual([500]);
  await world.db.query(
    'more-deliveries',
    `with more as (
       insert into webhook_delivery (id, webhook_id, event_id, sequence, type, state, attempts, tries, next_attempt_at, created_at)
       select 'more_' || n, webhook_id, 'more_' || n, sequence, type, state, attempts, tries, created_at + interval '1 hour', created_at
         from webhook_delivery, generate_series(1, 2500) n where webhook_id = $1 returning id, created_at)
     insert into webhook_attempt (delivery_id, number, at, duration_ms) select id, 1, created_at, 1 from more`,
    [webhookId],
  );
  const held = await holdDeliveries(database.url, webhookId);
  receiver.react(answer(200));
  await world.emit(happened(accountId, 'agt_b'));
  await held.untilWaitedFor();
  await world.emit(happened(accountId, 'agt_c'), happened(other.accountId, 'agt_d'));
  await expect.poll(() => quick.received.map(subjectOf)).toEqual(['agt_d']);
  await held.release();
  await expect.poll(() => receiver.received.map(subjectOf)).toContain('agt_c');
  // Rows that one transaction changed have one xmin.
  const changes = await askDatabase<{ rows: number }>(
    database.url,
    `select count(*)::int as rows from webhook_delivery
      where webhook_id = $1 and id like 'more%' and is_early and next_attempt_at <= $2 group by xmin::text`,
    [webhookId, new Date(world.ctx.clock.now().getTime() + 5 * SECOND)],
  );
  expect(Math.max(...changes.map(({ rows }) => rows))).toBeLessThanOrEqual(1000);
  expect(changes.reduce((sum, { rows }) => sum + rows, 0)).toBe(2500);
  const [endpoint] = await askDatabase<{ dueAt: Date }>(
    database.url,
    `update webhook set status = 'disabled', due_at = null from (select due_at as at from webhook where id = $1) before where id = $1
     returning before.at as "dueAt"`,
    [webhookId],
  );
  expect(endpoint?.dueAt.getTime()).toBeLessThanOrEqual(world.ctx.clock.now().getTime() + 5 * SECOND);
});

test('what a later step brings forward is due, also when another process released the endpoint between the steps', async () => {
  const world = openEventWorld(database.url);
  const { accountId } = await world.newAccount();
  const { webhookId } = await world.newEndpoint(accountId, 'http://127.0.0.1:9/');
  const now = world.ctx.clock.now();
  const later = new Date(now.getTime() + 3600 * SECOND);
  await world.db.query(
    'retried-deliveries',
    `with d as (
       insert into webhook_delivery (id, webhook_id, event_id, sequence, type, state, attempts, tries, next_attempt_at, created_at)
       select 'step_' || n, $1, 'step_' || n, n, 'agent.online', 'pending', 1, 1, $2, $3::timestamptz - interval '1 hour'
         from generate_series(1, 1500) n returning id)
     insert into webhook_attempt (delivery_id, number, at, duration_ms) select id, 1, $3::timestamptz - interval '1 hour', 1 from d`,
    [webhookId, later, now],
  );
  let marks = 0;
  const query: typeof world.db.query = async (name, text, params) => {
    const rows = await world.db.query(name, text, params);
    if (name === 'mark-webhooks-due' && marks++ === 0)
      await world.db.query('released', 'update webhook set due_at = $2 where id = $1', [webhookId, later]);
    return rows as never;
  };
  const db = new Proxy(world.db, { get: (real, key) => (key === 'query' ? query : Reflect.get(real, key)) });
  const { signal } = new AbortController();
  expect(await bringForward({ ...world.ctx, db }, { webhookId, urls: null }, signal)).toBe(true);
  expect(marks).toBe(2);
  const [endpoint] = await askDatabase<{ dueAt: Date }>(
    database.url,
    'select due_at as "dueAt" from webhook where id = $1',
    [webhookId],
  );
  expect(endpoint?.dueAt).toEqual(now);
});

test('an endpoint that its owner enables in a pause that it asked for gets what waits at once', async () => {
  const { world, receiver, accountId, webhookId, deliveryOf, advance } = await setUp();
  receiver.react(answer(429, { 'retry-after': '3600' }));
  await world.emit(happened(accountId, 'agt_a'));
  await expect.poll(() => statuses(deliveryOf('agt_a'))).toEqual([429]);
  await world.emit(happened(accountId, 'agt_b'));
  await expect.poll(async () => (await world.deliveries(accountId, webhookId)).total).toBe(2);
  receiver.react(answer(200));
  const enabled = await updateWebhook(world.ctx, { accountId }, webhookId, { status: 'enabled' });
  expect(enabled).toMatchObject({ status: 'enabled', pausedUntil: null });
  advance(SECOND);
  await expect.poll(() => receiver.received.map(subjectOf)).toEqual(['agt_a', 'agt_b']);
});

test('an endpoint that gets another URL in a pause gets there what waits at once', async () => {
  const { world, receiver, accountId, webhookId, deliveryOf, advance } = await setUp();
  receiver.react(answer(503, { 'retry-after': '86400' }));
  await world.emit(happened(accountId, 'agt_a'));
  await expect.poll(() => statuses(deliveryOf('agt_a'))).toEqual([503]);
  await world.emit(happened(accountId, 'agt_b'));
  await expect.poll(async () => (await world.deliveries(accountId, webhookId)).total).toBe(2);
  const other = await startReceiver();
  const described = await updateWebhook(world.ctx, { accountId }, webhookId, { description: 'old', url: receiver.url });
  expect(described.pausedUntil).not.toBeNull();
  const moved = await updateWebhook(world.ctx, { accountId }, webhookId, { url: other.url });
  expect(moved).toMatchObject({ status: 'enabled', failingSince: null, pausedUntil: null });
  advance(SECOND);
  await expect.poll(() => other.received.map(subjectOf)).toEqual(['agt_b']);
  advance(6 * SECOND);
  await expect.poll(() => other.received.map(subjectOf)).toEqual(['agt_b', 'agt_a']);
});

test('a late answer of the URL before does not disable the endpoint at its new one', async () => {
  const { world, receiver, accountId, webhookId, deliveryOf } = await setUp();
  const held: (() => void)[] = [];
  receiver.react((response, received) => void held.push(() => answer(410)(response, received)));
  await world.emit(happened(accountId, 'agt_a'));
  await expect.poll(() => held.length).toBe(1);
  const other = await startReceiver();
  await updateWebhook(world.ctx, { accountId }, webhookId, { url: other.url });
  for (const release of held) release();
  await expect.poll(() => statuses(deliveryOf('agt_a'))).toEqual([410]);
  await world.emit(happened(accountId, 'agt_b'));
  await expect.poll(() => other.received.map(subjectOf)).toEqual(['agt_b']);
});

test('a delivery that is replayed during a retry is sent once more, whatever becomes of the retry', async () => {
  const { world, receiver, accountId, webhookId, webhookDispatcher, deliveryOf, advance } = await setUp();
  receiver.react(answer(500));
  await world.emit(happened(accountId, 'agt_a'));
  await expect.poll(() => statuses(deliveryOf('agt_a'))).toEqual([500]);
  const held: (() => void)[] = [];
  receiver.react((response, received) => void held.push(() => answer(200)(response, received)));
  advance(6 * SECOND);
  await expect.poll(() => held.length).toBe(1);
  const deliveryId = (await deliveryOf('agt_a'))?.deliveryId ?? '';
  await replayWebhook({ ...world.ctx, webhookDispatcher }, { accountId }, webhookId, { deliveryId });
  receiver.react(answer(200));
  for (const give of held) give();
  await expect.poll(() => statuses(deliveryOf('agt_a'))).toEqual([500, 200, 200]);
  expect(await deliveryOf('agt_a')).toMatchObject({ status: 'delivered', nextAttemptAt: null });
});

test('an event that its receiver never takes is brought forward ever more rarely, and uses up no step of its schedule', async () => {
  const { world, receiver, accountId, deliveryOf, advance } = await setUp();
  receiver.react((response, received) => answer(subjectOf(received) === 'agt_bad' ? 500 : 200)(response, received));
  await world.emit(happened(accountId, 'agt_bad'));
  await expect.poll(() => statuses(deliveryOf('agt_bad'))).toHaveLength(1);
  for (let n = 0; n < 40; n++) {
    advance(4 * SECOND);
    await world.emit(happened(accountId, `agt_${n}`));
    await expect
      .poll(() => receiver.received.some((each) => subjectOf(each) === `agt_${n}`), { interval: 5 })
      .toBe(true);
  }
  const bad = await deliveryOf('agt_bad');
  expect(bad?.status).toBe('pending');
  expect(bad?.attempts.length).toBeGreaterThan(5);
  expect(bad?.attempts.length).toBeLessThan(30);
});

test('from a receiver that fails half of the time every event arrives within three minutes, and webhook-sequence sorts them', async () => {
  const { world, receiver, accountId, webhookId, advance } = await setUp();
  let calls = 0;
  const taken = new Map<string, number>();
  receiver.react((response, received) => {
    // A fixed pattern without a period that retries could fall in with: the bits of a generator.
    calls += 1;
    const isTaken = ((calls * 1_103_515_245 + 12_345) >>> 16) % 2 === 0;
    if (isTaken) taken.set(subjectOf(received), Number(received.headers['webhook-sequence']));
    answer(isTaken ? 200 : 500)(response, received);
  });
  const subjects = Array.from({ length: 60 }, (_, n) => `agt_flaky_${n}`);
  let passedS = 0;
  // A busy machine is late; the clock stands until it has sent what is due.
  const pass = async () => {
    await until(() => isIdle(webhookId, world.ctx.clock.now()));
    advance(SECOND);
    passedS += 1;
  };
  for (const subject of subjects) {
    await world.emit(happened(accountId, subject));
    const before = calls;
    await expect.poll(() => calls, { interval: 5 }).toBeGreaterThan(before);
    await pass();
  }
  // What still waits hears of no further event: the schedule, or its own success, has to bring it.
  while (taken.size < subjects.length && passedS < 60 + 180) await pass();
  expect(taken.size).toBe(subjects.length);
  const bySequence = [...taken].sort(([, a], [, b]) => a - b).map(([subject]) => subject);
  expect(bySequence).toEqual(subjects);
});
