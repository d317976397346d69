import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { openEventWorld } from './support/event-world.ts';
import { startReceiver } from './support/receiver.ts';
import { happened } from './support/sample-event.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ACCOUNTS = 13;
/** Maximum number of webhooks of an account: together more than a process has slots. */
const ENDPOINTS = 20;
const ALL = ACCOUNTS * ENDPOINTS;
/** Slots for accounts with an endpoint that hung. */
const LATE = 64;

test('endpoints that hang have a quarter of the slots, and the others are for everybody else', async () => {
  const world = openEventWorld(database.url);
  const [hanging, quick] = [await startReceiver(), await startReceiver()];
  const { accountId } = await world.newAccount();
  await world.newEndpoint(accountId, quick.url);
  const attackers = await Promise.all(Array.from({ length: ACCOUNTS }, () => world.newAccount()));
  const addEndpoints = async (attacker: string) => {
    for (let nth = 0; nth < ENDPOINTS; nth += 1) await world.newEndpoint(attacker, hanging.url);
  };
  await Promise.all(attackers.map((attacker) => addEndpoints(attacker.accountId)));
  const dispatcher = await world.startDispatcher();

  // Slow enough to be known from then on.
  hanging.react((response) => void setTimeout(() => response.writeHead(500).end(), 1100));
  await world.emit(...attackers.map((attacker) => happened(attacker.accountId)));
  const countFailed = async () =>
    (await world.db.query('test-failed-attempts', 'select from webhook_attempt where status = 500', [])).length;
  await expect.poll(countFailed).toBe(ALL);

  hanging.react(() => undefined);
  world.ctx.clock.advance(6000);
  dispatcher.requestRun();
  await expect.poll(() => hanging.received.length).toBe(ALL + LATE);
  await world.emit(happened(accountId));
  await expect.poll(() => quick.received.length).toBe(1);
  expect(hanging.received).toHaveLength(ALL + LATE);
});
