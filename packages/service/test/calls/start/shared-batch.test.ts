import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KeyToTake } from '../../../src/accounts/idempotency/idempotency.ts';
import type { Acceptance } from '../../../src/calls/start/accept-invocations.ts';
import { contradictions } from '../../support/books.ts';
import { type Answer, type Harness, startHarness } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const call = ({ key }: Client, name: string, task = 'x') =>
  h.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task },
    headers: { 'x-sync': 'true', 'idempotency-key': name },
  });

/** Calls whose acceptances are decided together; `keysFirst`: how many keys were taken by themselves. */
async function inOneBatch(calls: readonly (() => Promise<Answer>)[]) {
  const { acceptor, keyWriter } = h.ctx;
  const [{ accept }, { take }] = [{ ...acceptor }, { ...keyWriter }];
  const gathered: (() => void)[] = [];
  let keysFirst = 0;
  Object.assign(acceptor, {
    async accept(item: Acceptance) {
      if (gathered.length < calls.length)
        await new Promise<void>((resolve) => {
          gathered.push(resolve);
          if (gathered.length === calls.length) for (const each of gathered) each();
        });
      return accept(item);
    },
  });
  Object.assign(keyWriter, {
    take(key: KeyToTake) {
      keysFirst += 1;
      return take(key);
    },
  });
  try {
    const answers = await Promise.all(calls.map((each) => each()));
    return { answers, keysFirst };
  } finally {
    Object.assign(acceptor, { accept });
    Object.assign(keyWriter, { take });
  }
}

const names = (group: string) => Array.from({ length: 5 }, (_, index) => `${group}-${index}`);

it('a repeated key among new ones is the only one that is decided again', async () => {
  const client = await newClient(h, '10.00');
  const done = await call(client, 'done');
  const { answers, keysFirst } = await inOneBatch(
    [...names('beside-repeated'), 'done'].map((name) => () => call(client, name)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(answers.at(-1)?.body.data).toEqual(done.body.data);
  expect(new Set(answers.map(({ body }) => body.data.requestId)).size).toBe(6);
  expect(keysFirst).toBe(1);
});

it('a freed key whose call was made is the only one that is decided again', async () => {
  const client = await newClient(h, '10.00');
  const done = await call(client, 'freed');
  await h.ctx.db.query('free', 'delete from idempotency where key = $1', ['freed']);
  const { answers, keysFirst } = await inOneBatch(
    [...names('beside-freed'), 'freed'].map((name) => () => call(client, name)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(answers.at(-1)?.body.data.requestId).toBe(done.body.data.requestId);
  expect(keysFirst).toBe(1);
});

it('a refused call among others under new keys leaves them as they are, and its key is free for another call', async () => {
  const [client, poor] = [await newClient(h, '10.00'), await newClient(h, '0.06')];
  expect((await call(poor, 'first')).status).toBe(200);
  const { answers, keysFirst } = await inOneBatch([
    ...names('beside-refused').map((name) => () => call(client, name)),
    () => call(poor, 'refused'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 422]);
  expect(keysFirst).toBe(0);
  const again = await call(poor, 'refused', 'y');
  expect([again.status, again.body.error?.code]).toEqual([422, 'INSUFFICIENT_FUNDS']);
});
