import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEPT_MS, releaseLeft } from '../../../src/access/idempotency/idempotency.ts';
import { createKeyWriter } from '../../../src/access/idempotency/key-writer.ts';
import { createKeysInHand } from '../../../src/access/idempotency/keys-in-hand.ts';
import { createApp } from '../../../src/app.ts';
import type { Database } from '../../../src/db/database.ts';
import { until } from '../../../src/lib/concurrency/until.ts';
import { askDatabase } from '../../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const DONE = { timeoutMs: 3000, firstMs: 20, mostMs: 100 };

/** Another process of the node, alive in the database, whose connections can be cut. */
async function anotherProcess() {
  const id = randomUUID();
  const beat = () => askDatabase(h.databaseUrl, 'update process set seen_at = now() where id = $1', [id]);
  await askDatabase(h.databaseUrl, `insert into process (id, label) values ($1, 'other')`, [id]);
  let cutAt: { readonly statement: string; readonly isDone: boolean } | null = null;
  const state = { isCut: false };
  const db: Database = {
    ...h.ctx.db,
    async query<Row>(name: string, text: string, params?: readonly unknown[]) {
      if (cutAt !== null && name.startsWith(cutAt.statement) && !state.isCut) {
        state.isCut = true;
        if (cutAt.isDone) await h.ctx.db.query<Row>(name, text, params);
      }
      if (state.isCut) throw new Error('Connection terminated unexpectedly');
      return h.ctx.db.query<Row>(name, text, params);
    },
  };
  const keysInHand = createKeysInHand((keys) => releaseLeft({ db }, keys));
  const keyWriter = createKeyWriter({ db }, KEPT_MS);
  const app = createApp({ ...h.ctx, db, keysInHand, keyWriter, processId: () => id });
  return {
    id,
    beat,
    cutBefore(statement: string) {
      cutAt = { statement, isDone: false };
    },
    /** The database has done the statement, and its answer is lost. */
    cutAfter(statement: string) {
      cutAt = { statement, isDone: true };
    },
    restore() {
      cutAt = null;
      state.isCut = false;
    },
    invoke: (key: string) =>
      app.request(`/invoke/${agent.id}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${owner.key}`,
          'content-type': 'application/json',
          'idempotency-key': key,
          'x-sync': 'true',
        },
        body: JSON.stringify({ task: 'x' }),
      }),
  };
}

const invokeHere = (key: string) =>
  h.request('POST', `/invoke/${agent.id}`, {
    key: owner.key,
    body: { task: 'x' },
    headers: { 'idempotency-key': key, 'x-sync': 'true' },
  });

/** The answer of a repetition here, once it is answered with success. */
const foundHere = (key: string) =>
  until(async () => {
    const again = await invokeHere(key);
    return again.status === 200 ? again.body.data : null;
  }, DONE);

it('a key whose process lives, but lost its connections before it could answer, is found by its repetition elsewhere within seconds', async () => {
  const other = await anotherProcess();
  other.cutBefore('store-idempotent-answer');
  const lost = await other.invoke('cut');
  const { requestId } = ((await lost.json()) as { data: { requestId: string } }).data;
  expect((await invokeHere('cut')).status).toBe(409);
  other.restore();
  await other.beat();
  expect(await foundHere('cut')).toMatchObject({ requestId, status: 'completed' });
});

it('a key that was taken, but whose process never heard so, is free for its repetition elsewhere within seconds', async () => {
  const other = await anotherProcess();
  other.cutAfter('take-idempotency-keys');
  expect((await other.invoke('unheard')).status).toBe(500);
  expect((await invokeHere('unheard')).status).toBe(409);
  other.restore();
  await other.beat();
  expect(await foundHere('unheard')).toMatchObject({ status: 'completed' });
});

it('a key whose process shows no sign of life is taken up elsewhere before that process is declared dead', async () => {
  const other = await anotherProcess();
  other.cutBefore('store-idempotent-answer');
  const lost = await other.invoke('silent');
  const { requestId } = ((await lost.json()) as { data: { requestId: string } }).data;
  await askDatabase(h.databaseUrl, `update process set seen_at = now() - interval '7 seconds' where id = $1`, [
    other.id,
  ]);
  const again = await invokeHere('silent');
  expect([again.status, again.body.data?.requestId]).toEqual([200, requestId]);
});
