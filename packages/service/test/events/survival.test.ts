import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { openEventWorld } from './support/event-world.ts';
import { answer, startReceiver } from './support/receiver.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A process of the node that has committed three events; `kill` is SIGKILL, and the others' finding it dead. */
async function startChild(world: ReturnType<typeof openEventWorld>, args: readonly string[]) {
  const child = fork(join(import.meta.dirname, 'webhook-dispatcher-child.ts'), [database.url, ...args], {
    stdio: 'inherit',
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const [{ processId }] = (await once(child, 'message')) as [{ processId: string }];
  return {
    async kill() {
      await kill();
      // What the heartbeat of a living process does after ten seconds.
      await world.db.query('bury-child', 'delete from process where id = $1', [processId]);
    },
  };
}

test('a process killed between the commit of events and their delivery loses none', async () => {
  const world = openEventWorld(database.url);
  const receiver = await startReceiver();
  const { accountId } = await world.newAccount();
  await world.newEndpoint(accountId, receiver.url);
  const child = await startChild(world, [accountId]);
  await child.kill();
  expect(receiver.received).toHaveLength(0);
  await world.startDispatcher();
  const subjects = () => receiver.received.map(({ body }) => body.data.id);
  await expect.poll(subjects).toEqual(['agt_1', 'agt_2', 'agt_3']);
});

test('a process killed while an endpoint is answering: another sends the same bytes under the same id, and the rest', async () => {
  const world = openEventWorld(database.url);
  const receiver = await startReceiver();
  const { accountId } = await world.newAccount();
  await world.newEndpoint(accountId, receiver.url);
  receiver.react(() => undefined);
  const child = await startChild(world, [accountId, 'deliver']);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await child.kill();
  // The clock of this process stood still since before the child wrote when it is due.
  world.ctx.clock.advance(60_000);
  const before = receiver.received.splice(0);
  receiver.react(answer(200));
  await world.startDispatcher();
  await expect.poll(() => receiver.received.map(({ body }) => body.data.id)).toEqual(['agt_1', 'agt_2', 'agt_3']);
  expect(receiver.received[0]).toMatchObject({ id: before[0]?.id, text: before[0]?.text });
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(3);
});

test('while the process that sends to an endpoint lives, no other one sends to it', async () => {
  const world = openEventWorld(database.url);
  const receiver = await startReceiver();
  const { accountId } = await world.newAccount();
  await world.newEndpoint(accountId, receiver.url);
  const held = Promise.withResolvers<void>();
  receiver.react((response, call) => void held.promise.then(() => answer(200)(response, call)));
  await world.startDispatcher();
  await world.emit({ type: 'agent.online', accountId, subjectId: 'agt_1', data: { id: 'agt_1' } });
  await expect.poll(() => receiver.received.length).toBe(1);
  const other = await startReceiver();
  const second = await world.newAccount();
  await world.newEndpoint(second.accountId, other.url);
  await world.startDispatcher();
  for (const n of [1, 2, 3]) {
    await world.emit({ type: 'agent.online', accountId: second.accountId, subjectId: `agt_${n}`, data: {} });
    await expect.poll(() => other.received.length).toBe(n);
  }
  expect(receiver.received).toHaveLength(1);
  held.resolve();
});
