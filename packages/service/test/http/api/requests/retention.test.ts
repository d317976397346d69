import { expect, it, onTestFinished } from 'vitest';
import { forgetDeadKeys } from '../../../../src/accounts/keys/manage-keys.ts';
import { forgetWindows } from '../../../../src/accounts/limits/rate-limiter.ts';
import { aggregateStoredBytes, forgetContents } from '../../../../src/calls/storage.ts';
import { removeContents, storedBytes } from '../../../../src/calls/storage-store.ts';
import { forgetEvents } from '../../../../src/events/outbox/forget-events.ts';
import { removeAttempts } from '../../../../src/events/outbox/retention-store.ts';
import { openSse } from '../../../calls/stream/support/sse-client.ts';
import { chunk, result, says } from '../../../calls/stream/support/streaming-agent.ts';
import { contradictions } from '../../../support/books.ts';
import { startHarness } from '../../../support/harness.ts';
import { answerWith, startTestAgent } from '../../../support/test-agent.ts';
import { balanceOf, newClient } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';

const DAY_MS = 86_400_000;
const WORDS = 5;

/** A node whose clock the test sets, an agent that streams, and a call of it that has ended. */
async function startOld(changed: { metadata?: object } = {}) {
  let aheadMs = 0;
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const h = await startHarness({ clock });
  const words = Array.from({ length: WORDS }, (_, word) => chunk({ word, text: 'x'.repeat(1000) }));
  const agent = await startTestAgent(h, { perRequest: '0.05', behaviour: says(...words, result('r'.repeat(5000))) });
  onTestFinished(async () => {
    await agent.die();
    await h.stop();
  });
  const client = await newClient(h, '1.00');
  const { accountId } = (await h.request('GET', '/account', { key: client.key })).body.data;
  const input = { text: 'i'.repeat(3000) };
  const body = { task: 't'.repeat(1500), input, metadata: { note: 'm'.repeat(5000) }, stream: true, ...changed };
  const events = await (await openSse(h, 'POST', `/invoke/${agent.id}`, { key: client.key, body })).rest();
  const requestId: string = events[0]?.data.requestId;
  return {
    ...{ h, agent, requestId, accountId, events, key: client.key },
    read: async (path: string, headers: Record<string, string> = {}) =>
      h.request('GET', path, { key: client.key, headers }),
    async later(days: number) {
      aheadMs = days * DAY_MS;
      await aggregateStoredBytes(h.ctx);
      await forgetContents(h.ctx);
      await forgetEvents(h.ctx);
      await forgetWindows(h.ctx);
      await aggregateStoredBytes(h.ctx);
    },
    count: async (table: string) =>
      Number((await h.ctx.db.query<{ n: bigint }>('', `select count(*) as n from ${table}`))[0]?.n),
    stored: async () => Number(await storedBytes(h.ctx.db, accountId)),
  };
}

it('an ended request is removed when its time is over: state, money and books stay, and whoever asks is told', async () => {
  const old = await startOld();
  const { h, requestId } = old;
  const sse = { accept: 'text/event-stream' };
  const before = (await old.read(`/invoke/${requestId}`)).body.data;
  const balance = await balanceOf(h, old.key);
  expect(await old.stored()).toBeGreaterThan(5 * 1000 + 5000 + 3000 + 1500 + 5000);
  const first = (await old.read('/events')).body.data.events[0].sequence;

  await old.later(6);
  expect(await old.count('invocation_chunk')).toBe(WORDS);
  const again = await openSse(h, 'GET', `/invoke/${requestId}/events`, { key: old.key });
  expect(await again.rest()).toEqual(old.events);

  await old.later(10);
  expect(await old.count('invocation_chunk')).toBe(0);
  for (const headers of [sse, { ...sse, 'last-event-id': '3' }]) {
    const gone = await old.read(`/invoke/${requestId}/events`, headers);
    expect([gone.status, gone.body.error.code]).toEqual([410, 'GONE']);
  }
  expect((await old.read(`/invoke/${requestId}`)).body.data).toEqual(before);
  expect(await old.stored()).toBeLessThan(15_000);

  await old.later(31);
  expect(await old.count('event')).toBe(1);
  for (const headers of [{}, sse, { ...sse, 'last-event-id': `${first - 1}` }]) {
    const missed = await old.read(`/events?after=${first - 1}`, headers);
    expect([missed.status, missed.body.error.code]).toEqual([410, 'GONE']);
  }
  expect((await old.read('/events')).status).toBe(200);

  await h.ctx.db.query('record-sent', 'insert into upstream_call (request_id, sent_at) values ($1, now())', [
    requestId,
  ]);
  await old.later(91);
  expect(await old.count('upstream_call')).toBe(0);
  const { result: _, ...facts } = before;
  const after = (await old.read(`/invoke/${requestId}`)).body.data;
  const removed = { result: null, task: 't'.repeat(1000), metadata: {}, contentRemovedAt: expect.any(String) };
  expect(after).toEqual({ ...facts, ...removed });
  expect((await old.read(`/invoke/${requestId}?detail=true`)).body.data).toMatchObject({
    cost: '0.05',
    detail: { input: {} },
  });
  expect(await old.stored()).toBe(0);
  expect(await balanceOf(h, old.key)).toEqual(balance);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});

it('of the large metadata of an A2A task its context and message stay, where no character of it makes it unreadable', async () => {
  const a2a = { contextId: 'c'.repeat(5000), messageId: 'm-1', other: 'o' };
  const { h, agent, key, requestId, later, read } = await startOld({ metadata: { a2a } });
  agent.behave(answerWith(200, { result: 'r' }));
  const body = { task: 'x', metadata: { a2a, nul: '\u0000' } };
  const unreadable = await h.request('POST', `/invoke/${agent.id}`, { key, body, headers: { 'x-sync': 'true' } });
  await later(91);
  const metadataOf = async (id: string) => (await read(`/invoke/${id}`)).body.data.metadata;
  expect(await metadataOf(requestId)).toEqual({ a2a: { contextId: 'c'.repeat(257), messageId: 'm-1' } });
  expect(await metadataOf(unreadable.body.data.requestId)).toEqual({});
});

it('of a request that a version before ended, what that version counted is taken off', async () => {
  const old = await startOld();
  const before = await old.stored();
  // That version did not count task and metadata.
  const uncounted = Buffer.byteLength(`${'t'.repeat(1500)}${JSON.stringify({ note: 'm'.repeat(5000) })}`);
  await old.h.ctx.db.query('', `update storage_change set bytes = bytes - ${uncounted} where bytes > ${uncounted}`);
  await old.h.ctx.db.query('', 'update invocation set counted_bytes = null');
  expect(await old.stored()).toBe(before - uncounted);
  await old.later(91);
  expect(await old.stored()).toBe(0);
});

it('one removal of contents reads a bounded number of bytes, and at least one result', async () => {
  const { h, agent, key, count } = await startOld();
  agent.behave(answerWith(200, { result: 'r' }));
  const call = () =>
    h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
  for (const { status } of await Promise.all([call(), call(), call(), call()])) expect(status).toBe(200);
  const later = new Date(Date.now() + 91 * DAY_MS);
  const remove = (bounds: { most: number; mostBytes?: number }) =>
    h.ctx.db.transaction((tx) => removeContents(tx, later, later, bounds));
  const small = { most: 3, mostBytes: 1 };
  expect([await remove(small), await remove(small)]).toEqual([1, 1]);
  const many = { most: 2 };
  expect([await remove(many), await remove(many), await remove(many)]).toEqual([2, 1, 0]);
  expect(await count('invocation where content_removed_at is null')).toBe(0);
});

it('an event that a webhook is still to be told of stays, and so does the delivery', async () => {
  const { h, agent, key, count } = await startOld();
  agent.behave(answerWith(200, { result: 'r' }));
  const body = { url: 'http://127.0.0.1:1/closed', eventTypes: ['invocation.completed'] };
  expect((await h.request('POST', '/account/webhooks', { key, body })).status).toBe(200);
  const call = (who: string) =>
    h.request('POST', `/invoke/${agent.id}`, { key: who, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
  await call(key);
  const isWaiting = async () => (await count("webhook_delivery where state = 'pending'")) === 1;
  await until(isWaiting);
  await call((await newClient(h, '1.00')).key);
  await forgetEvents({ ...h.ctx, clock: { now: () => new Date(Date.now() + 31 * DAY_MS) } });
  expect(await count('webhook_delivery')).toBe(1);
  expect(await count('event e join webhook_delivery d on d.event_id = e.id')).toBe(1);
});

it('old attempts are removed in steps before their deliveries, which can have more than one statement removes', async () => {
  const { h, count, later } = await startOld();
  const { db } = h.ctx;
  const { accountId } = await h.newAccount();
  await db.query(
    '',
    `with w as (
       insert into webhook (id, account_id, kind, url, description, status, secret_sealed, created_at)
       values ('whk_old', $1, 'endpoint', 'http://127.0.0.1:1/', '', 'enabled', '', now()) returning id
     ), d as (
       insert into webhook_delivery (id, webhook_id, event_id, type, state, attempts, tries, created_at)
       select 'dlv_old', id, 'evt_old', 'webhook.test', 'failed', 2500, 10, now() from w returning id
     )
     insert into webhook_attempt (delivery_id, number, at, duration_ms)
     select id, number, now(), 1 from d, generate_series(1, 2500) as number`,
    [accountId],
  );
  const before = new Date(Date.now() + DAY_MS);
  expect(await removeAttempts(db, before, 1000)).toBe(1000);
  expect([await count('webhook_attempt'), await count('webhook_delivery')]).toEqual([1500, 1]);
  await later(31);
  expect([await count('webhook_attempt'), await count('webhook_delivery')]).toEqual([0, 0]);
});

it('an account over its storage limit is refused before it is charged, and others are not', async () => {
  const { h, agent, accountId, key, later } = await startOld();
  agent.behave(answerWith(200, { result: 'r' }));
  // It was found far below its limit, and has filled its storage in the two seconds since.
  await later(2 / 86_400);
  await h.ctx.db.query('', 'insert into storage_change (account_id, bytes) values ($1, 1e15::bigint)', [accountId]);
  const call = (who: string) => h.request('POST', `/invoke/${agent.id}`, { key: who, body: { task: 'x' } });
  // A call that comes then does not wait for the reading, which is for the next ones.
  await expect.poll(async () => (await call(key)).status).toBe(403);
  await expect.poll(async () => (await balanceOf(h, key)).held).toBe('0.00');
  const balance = await balanceOf(h, key);
  const bulk = await h.request('POST', '/invoke/bulk', { key, body: { task: 'x', agents: [agent.id] } });
  for (const refused of [await call(key), bulk]) {
    expect([refused.status, refused.body.error.code]).toEqual([403, 'STORAGE_LIMIT_EXCEEDED']);
    expect(refused.body.error.details.storedBytes).toBeGreaterThan(refused.body.error.details.limitBytes);
  }
  expect(await balanceOf(h, key)).toEqual(balance);
  expect((await call((await newClient(h, '1.00')).key)).status).toBe(200);
});

it('a key is removed 400 days after its end, with what it had spent; living ones stay, and are counted and listed', async () => {
  const old = await startOld();
  const newKey = async (body: object) =>
    (await old.h.request('POST', '/account/keys', { key: old.key, body })).body.data;
  const limited = { name: 'limited', limits: { perDay: '1.00' } };
  const [revoked, expired, late] = [
    await newKey(limited),
    await newKey({ name: 'x', expiresAt: new Date(Date.now() + DAY_MS).toISOString() }),
    await newKey(limited),
  ];
  const spent = () => old.count('key_spending');
  for (const { apiKey } of [revoked, late])
    await old.h.request('POST', `/invoke/${old.agent.id}`, { key: apiKey, body: { task: 'x' } });
  expect(await spent()).toBe(2);
  await old.h.request('DELETE', `/account/keys/${revoked.keyId}`, { key: old.key });
  const ids = async () => {
    const { keys } = (await old.read('/account/keys')).body.data;
    return new Set(keys.map(({ keyId }: { keyId: string }) => keyId));
  };
  await old.later(300);
  await old.h.request('DELETE', `/account/keys/${late.keyId}`, { key: old.key });
  await forgetDeadKeys(old.h.ctx);
  expect((await ids()).size).toBe(4);
  await old.later(401);
  await forgetDeadKeys(old.h.ctx);
  const left = await ids();
  expect([revoked, expired, late].map(({ keyId }) => left.has(keyId))).toEqual([false, false, true]);
  expect([left.size, await spent()]).toEqual([2, 1]);
});
