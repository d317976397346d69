import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHeldKeys } from '../../../../src/accounts/idempotency/held-keys.ts';
import { KEPT_MS, releaseLeft } from '../../../../src/accounts/idempotency/idempotency.ts';
import { createKeyWriter } from '../../../../src/accounts/idempotency/key-writer.ts';
import type { Acceptance, Acceptor } from '../../../../src/calls/start/accept-invocations.ts';
import { createApp } from '../../../../src/compose/app.ts';
import type { Database } from '../../../../src/store/database.ts';
import { DatabaseAwayError } from '../../../../src/store/database-away.ts';
import { askDatabase } from '../../../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { until } from '../../../support/until.ts';

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

interface Cut {
  readonly statement: string;
  /** True if the server does it, and its answer is lost. */
  readonly isDone: boolean;
  /** Called with an acceptance before its connection is lost. */
  readonly first: ((acceptance: Acceptance) => Promise<unknown>) | undefined;
}

/** Another process of the node, alive in the database, whose connections can be cut. */
async function anotherProcess() {
  const id = randomUUID();
  const beat = () => askDatabase(h.databaseUrl, 'update process set seen_at = now() where id = $1', [id]);
  await askDatabase(h.databaseUrl, `insert into process (id, label) values ($1, 'other')`, [id]);
  let cutAt: Cut | null = null;
  const state = { isCut: false, releases: 0, unsent: null as Acceptance | null };
  const db: Database = {
    ...h.ctx.db,
    async query<Row>(name: string, text: string, params?: readonly unknown[]) {
      if (name.startsWith('release-')) state.releases += 1;
      if (cutAt !== null && name.startsWith(cutAt.statement) && !state.isCut) {
        state.isCut = true;
        if (cutAt.isDone) await h.ctx.db.query<Row>(name, text, params);
      }
      if (state.isCut) throw new Error('Connection terminated unexpectedly');
      return h.ctx.db.query<Row>(name, text, params);
    },
  };
  const heldKeys = createHeldKeys((keys) => releaseLeft({ db }, keys));
  const keyWriter = createKeyWriter({ db }, KEPT_MS);
  const acceptor: Acceptor = {
    ...h.ctx.acceptor,
    async accept(acceptance) {
      if (cutAt?.statement === ACCEPTANCE && !cutAt.isDone) {
        state.unsent = acceptance;
        await cutAt.first?.(acceptance);
        throw lostConnection();
      }
      const answer = await h.ctx.acceptor.accept(acceptance);
      if (cutAt?.statement !== ACCEPTANCE) return answer;
      state.isCut = true;
      throw lostConnection();
    },
  };
  const app = createApp({ ...h.ctx, db, acceptor, heldKeys, keyWriter, processId: () => id });
  return {
    id,
    beat,
    cutBefore(statement: string, first?: Cut['first']) {
      cutAt = { statement, isDone: false, first };
    },
    /** The database has done the statement, and its answer is lost. */
    cutAfter(statement: string) {
      cutAt = { statement, isDone: true, first: undefined };
    },
    releases: () => state.releases,
    /** The acceptance that was cut off before it arrived. */
    unsent: () => state.unsent as Acceptance,
    restore() {
      cutAt = null;
      state.isCut = false;
    },
    invoke: ({ key, path, isSync }: Call) =>
      app.request(path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${owner.key}`,
          'content-type': 'application/json',
          'idempotency-key': key,
          ...(isSync ? sync : {}),
        },
        body: JSON.stringify({ task: 'x' }),
      }),
  };
}

const lostConnection = () => new DatabaseAwayError(new Error('Connection terminated unexpectedly'), 'unknown', false);

/** In place of a statement: the acceptance of a call. */
const ACCEPTANCE = 'acceptance';
const sync = { 'x-sync': 'true' };

interface Call {
  readonly key: string;
  readonly path: string;
  readonly isSync: boolean;
}

/** A call with a quote takes its key first, and its answer is kept after it. */
async function quoted(key: string): Promise<Call> {
  const quote = await h.request('POST', `/invoke/${agent.id}/quote`, { key: owner.key, body: { task: 'x' } });
  return { key, path: quote.body.data.acceptUrl.replace(/^https?:\/\/[^/]+/, ''), isSync: true };
}

/** Any other takes it with its acceptance. */
const plain = (key: string, isSync = true): Call => ({ key, path: `/invoke/${agent.id}`, isSync });

const invokeHere = ({ key, path, isSync }: Call) =>
  h.request('POST', path, {
    key: owner.key,
    body: { task: 'x' },
    headers: { 'idempotency-key': key, ...(isSync ? sync : {}) },
  });

/** The answer of a repetition here, once it is answered with success; its process lives meanwhile. */
const foundHere = (call: Call, other: Pick<Awaited<ReturnType<typeof anotherProcess>>, 'beat'>) =>
  until(async () => {
    await other.beat();
    const again = await invokeHere(call);
    return again.status === 200 ? again.body.data : null;
  });

it('a repetition elsewhere finds, within seconds, the call of a living process that lost its connections before answering', async () => {
  const other = await anotherProcess();
  other.cutBefore('store-idempotent-answer');
  const call = await quoted('cut');
  const lost = await other.invoke(call);
  const { requestId } = ((await lost.json()) as { data: { requestId: string } }).data;
  expect((await invokeHere(call)).status).toBe(409);
  other.restore();
  expect(await foundHere(call, other)).toMatchObject({ requestId, status: 'completed' });
});

it('an answer that was kept with the end is found elsewhere at once, though its process lost its connections', async () => {
  const other = await anotherProcess();
  other.cutBefore('store-idempotent-answer');
  const lost = await other.invoke(plain('kept'));
  const { data } = (await lost.json()) as { data: object };
  const again = await invokeHere(plain('kept'));
  expect([again.status, again.headers.get('idempotency-replayed'), again.body.data]).toEqual([200, 'true', data]);
  const otherBody = { key: owner.key, body: { task: 'y' }, headers: { 'idempotency-key': 'kept', ...sync } };
  expect((await h.request('POST', `/invoke/${agent.id}`, otherBody)).status).toBe(422);
});

it('a repetition elsewhere finds a call that was accepted although its process did not get the answer', async () => {
  const other = await anotherProcess();
  const call = plain('unheard-acceptance', false);
  other.cutAfter(ACCEPTANCE);
  expect((await other.invoke(call)).status).toBe(503);
  expect((await invokeHere(call)).status).toBe(409);
  other.restore();
  const found = await foundHere(call, other);
  const rows = await askDatabase<{ id: string }>(h.databaseUrl, 'select id from invocation where worker = $1', [
    other.id,
  ]);
  expect(rows).toEqual([{ id: found.requestId }]);
});

it('a repetition elsewhere makes the one call if the acceptance arrives after the key was released', async () => {
  const other = await anotherProcess();
  const call = plain('late-arrival', false);
  other.cutBefore(ACCEPTANCE);
  expect((await other.invoke(call)).status).toBe(503);
  await until(async () => (other.releases() > 0 ? true : null));
  other.restore();
  const accepted = await h.ctx.acceptor.accept(other.unsent());
  const found = await foundHere(call, other);
  expect(accepted.kind).toBe('key_first');
  const made = `select id from invocation where id in ($1, $2)`;
  const rows = await askDatabase<{ id: string }>(h.databaseUrl, made, [found.requestId, other.unsent().invocation.id]);
  expect(rows).toEqual([{ id: found.requestId }]);
});

it('a key is free for a repetition elsewhere if the acceptance commits while the key is being released', async () => {
  const other = await anotherProcess();
  const call = plain('late-commit', false);
  const client = new pg.Client(h.databaseUrl);
  await client.connect();
  other.cutBefore(ACCEPTANCE, async ({ lateKey }) => {
    await client.query('begin');
    await client.query(
      `insert into idempotency (account_id, key, fingerprint, worker, created_at, caller_id, scopes) values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        ...[lateKey?.accountId, lateKey?.key, lateKey?.fingerprint, lateKey?.worker],
        ...[lateKey?.now, lateKey?.callerId, lateKey?.scopes],
      ],
    );
  });
  try {
    expect((await other.invoke(call)).status).toBe(503);
    await until(async () => (other.releases() > 0 ? true : null));
    await client.query('commit');
  } finally {
    await client.end();
  }
  other.restore();
  expect(await foundHere(call, other)).toHaveProperty('requestId');
});

it('a key of an acceptance without an answer is released, although its process has run another call under it since', async () => {
  const other = await anotherProcess();
  const call = plain('seen-again', false);
  other.cutBefore(ACCEPTANCE);
  expect((await other.invoke(call)).status).toBe(503);
  const first = other.unsent();
  // Refused before its key is taken.
  const refused = await other.invoke({ ...call, path: '/invoke/agent_0' });
  expect(refused.status).toBe(404);
  other.restore();
  const kept = await h.ctx.acceptor.accept(first);
  expect(await foundHere(call, other)).toMatchObject(
    kept.kind === 'accepted' ? { requestId: first.invocation.id } : {},
  );
});

it('a key taken without an answer to its process is free for a repetition elsewhere within seconds', async () => {
  const other = await anotherProcess();
  other.cutAfter('take-idempotency-keys');
  const call = await quoted('unheard');
  expect((await other.invoke(call)).status).toBe(500);
  expect((await invokeHere(call)).status).toBe(409);
  other.restore();
  expect(await foundHere(call, other)).toMatchObject({ status: 'completed' });
});

it('a key of a silent process can be taken over before that process is declared dead', async () => {
  const other = await anotherProcess();
  other.cutBefore('store-idempotent-answer');
  const call = await quoted('silent');
  const lost = await other.invoke(call);
  const { requestId } = ((await lost.json()) as { data: { requestId: string } }).data;
  await askDatabase(h.databaseUrl, `update process set seen_at = now() - interval '7 seconds' where id = $1`, [
    other.id,
  ]);
  const again = await invokeHere(call);
  expect([again.status, again.body.data?.requestId]).toEqual([200, requestId]);
});
