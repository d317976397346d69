import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Sender } from '../../src/events/deliveries/dispatcher.ts';
import { takeEndpointQueues } from '../../src/events/deliveries/endpoint-queue-store.ts';
import { fanOut } from '../../src/events/deliveries/fan-out.ts';
import { createBodyPreparer } from '../../src/events/deliveries/prepare-bodies.ts';
import { createAttemptRecorder } from '../../src/events/deliveries/record-attempts.ts';
import { runEndpointQueue } from '../../src/events/deliveries/run-endpoint-queue.ts';
import { advanceEventClock } from '../../src/events/outbox/event-store.ts';
import { postWebhook } from '../../src/events/webhooks/webhook-client.ts';
import { silentLog as log } from '../../src/lib/telemetry/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { openEventWorld } from './support/event-world.ts';
import { startReceiver } from './support/receiver.ts';
import { happened } from './support/sample-event.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => database.drop());

const readSubject = async () => expect.fail('the events have data');
/** Longer than a turn. */
const LONG_MS = 3000;

test('a turn whose bodies wait in line for longer than it lasts sends them all the same', async () => {
  const { db, ...world } = openEventWorld(database.url);
  const ctx = { ...world.ctx, log };
  const receiver = await startReceiver();
  const { accountId } = await world.newAccount();
  await world.newEndpoint(accountId, receiver.url);
  await world.emit(happened(accountId, 'agt_1'), happened(accountId, 'agt_2'));
  await advanceEventClock(db);
  await fanOut(ctx);
  const wanted = { underway: [], lateAccounts: [], isLate: false, limit: 1 };
  const [queue] = await takeEndpointQueues(db, randomUUID(), wanted, ctx.clock.now());
  if (!queue) return expect.fail('no queue is due');

  const startMs = Date.now();
  let aheadMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now() - startMs + aheadMs);
  const preparer = createBodyPreparer({ ...ctx, readSubject });
  const bodyPreparer: typeof preparer = {
    async prepare(due) {
      if (due.length > 0) aheadMs += LONG_MS;
      return preparer.prepare(due);
    },
  };
  const signal = AbortSignal.any([]);
  const send: Sender['send'] = (post) => postWebhook(ctx, { ...post, signal });
  await runEndpointQueue({ ...ctx, bodyPreparer, recorder: createAttemptRecorder(ctx) }, queue, { send, signal });
  expect(receiver.received.map(({ body }) => body.data.id)).toEqual(['agt_1', 'agt_2']);
});

test('no bodies wait behind a slow batch while a line is free, and no bodies at all wait for none', async () => {
  const { ctx } = openEventWorld(database.url);
  const gate = Promise.withResolvers<void>();
  const preparer = createBodyPreparer({ ...ctx, log, readSubject: () => gate.promise });
  const due = (id: string, data: unknown) => ({
    ...{ id, eventId: 'evt_1', sequence: null, url: null, hasBody: false, attempts: 0, tries: 0, isEarly: false },
    event: { type: 'agent.online' as const, subjectId: 'agt_1', accountId: 'acc_1', createdAt: new Date(), data },
  });
  const slow = [preparer.prepare([due('dlv_slow', null)])];
  for (let n = 0; n < 20; n += 1) expect((await preparer.prepare([due(`dlv_${n}`, {})])).ready).toHaveLength(1);
  for (let n = 0; n < 20; n += 1) slow.push(preparer.prepare([due(`dlv_slow_${n}`, null)]));
  expect(await preparer.prepare([])).toEqual({ ready: [], left: [] });
  gate.resolve();
  for (const { ready } of await Promise.all(slow)) expect(ready).toHaveLength(1);
});
