import { afterAll, beforeAll, expect, test } from 'vitest';
import { failLeftPending } from '../../src/events/webhooks/fail-pending.ts';
import {
  deleteWebhook,
  listWebhooks,
  updateWebhook,
  type WebhookContext,
} from '../../src/events/webhooks/manage-webhooks.ts';
import { askDatabase } from '../support/books.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { openEventWorld } from './support/event-world.ts';
import { holdDeliveries } from './support/hold-deliveries.ts';
import { answer, startReceiver } from './support/receiver.ts';
import { happened } from './support/sample-event.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** An endpoint that asked for an hour's pause, and two deliveries that wait. */
async function setUp() {
  const world = openEventWorld(database.url);
  const receiver = await startReceiver();
  const { accountId } = await world.newAccount();
  const { webhookId } = await world.newEndpoint(accountId, receiver.url);
  await world.startDispatcher();
  receiver.react(answer(429, { 'retry-after': '3600' }));
  const log = async () => (await world.deliveries(accountId, webhookId)).deliveries;
  const states = async () => (await log()).map(({ status }) => status);
  await world.emit(happened(accountId, 'agt_1'));
  await expect.poll(async () => (await log())[0]?.attempts.length).toBe(1);
  await world.emit(happened(accountId, 'agt_2'));
  await expect.poll(states).toEqual(['pending', 'pending']);
  return { world, receiver, accountId, webhookId, states };
}

type Ending = { ctx: WebhookContext; accountId: string; webhookId: string };

test.each([
  {
    what: 'disabling',
    end: ({ ctx, accountId, webhookId }: Ending) =>
      updateWebhook(ctx, { accountId }, webhookId, { status: 'disabled' }),
    left: ['disabled'],
  },
  {
    what: 'deleting',
    end: ({ ctx, accountId, webhookId }: Ending) => deleteWebhook(ctx, { accountId }, webhookId),
    left: [],
  },
])('$what an endpoint with many deliveries does not delay the events of others', async ({ end, left }) => {
  const { world, accountId, webhookId } = await setUp();
  const [other, quick] = [await world.newAccount(), await startReceiver()];
  await world.newEndpoint(other.accountId, quick.url);
  const held = await holdDeliveries(database.url, webhookId);
  const ending = end({ ctx: world.ctx, accountId, webhookId });
  await held.untilWaitedFor();
  // Events wait ten seconds for open transactions, such as the one that holds the deliveries; these are older.
  world.ctx.clock.advance(-60_000);
  await world.emit(happened(accountId, 'agt_3'), happened(other.accountId, 'agt_4'));
  await expect.poll(() => quick.received.length).toBe(1);
  await held.release();
  await ending;
  const { webhooks } = await listWebhooks(world.ctx, { accountId });
  expect(webhooks.map(({ status }) => status)).toEqual(left);
  const pending = `select id from webhook_delivery where webhook_id = $1 and state = 'pending'`;
  expect(await askDatabase(database.url, pending, [webhookId])).toEqual([]);
});

test('an endpoint with more deliveries than a request removes is disabled at once, and deleted when the request is repeated', async () => {
  const { world, accountId, webhookId } = await setUp();
  const remove = () => deleteWebhook(world.ctx, { accountId }, webhookId, { roundMs: 0 });
  await expect(remove()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const { webhooks } = await listWebhooks(world.ctx, { accountId });
  expect(webhooks).toMatchObject([{ webhookId, status: 'disabled' }]);
  const ended = async () => (await remove().catch(() => null)) !== null;
  await expect.poll(ended).toBe(true);
  expect((await listWebhooks(world.ctx, { accountId })).webhooks).toEqual([]);
});

test('what a process left pending when it died is ended by a recurring job, and not sent when the endpoint is enabled', async () => {
  const left = await setUp();
  const { world, accountId, receiver } = left;
  const [enabled, unswept] = [await setUp(), await setUp()];
  for (const each of [left, unswept])
    await world.db.query('disable', `update webhook set status = 'disabled', due_at = null where id = $1`, [
      each.webhookId,
    ]);
  const enable = (each: typeof left) =>
    updateWebhook(world.ctx, { accountId: each.accountId }, each.webhookId, { status: 'enabled' });
  await enable(unswept);
  expect(await unswept.states()).toEqual(['failed', 'failed']);
  await failLeftPending(world.ctx);
  expect(await left.states()).toEqual(['failed', 'failed']);
  expect(await enabled.states()).toEqual(['pending', 'pending']);
  receiver.react(answer(200));
  await enable(left);
  await world.emit(happened(accountId, 'agt_5'));
  await expect.poll(async () => (await left.states()).toSorted()).toEqual(['delivered', 'failed', 'failed']);
});
