import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checksum, newApiKey, parseApiKey, SECRET_CHARS } from '../../../../src/accounts/api-key.ts';
import type { KnownCaller } from '../../../../src/accounts/caller.ts';
import { createAuthenticator } from '../../../../src/accounts/keys/authenticate.ts';
import { createMetrics } from '../../../../src/lib/metrics.ts';
import { silentLog as log } from '../../../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../../../src/store/database.ts';
import { type Heartbeat, startHeartbeat } from '../../../../src/store/queue/heartbeat.ts';
import { createReplica, MAX_AGE_MS, type Replica } from '../../../../src/store/replica/replica.ts';
import { openBrowser } from '../../../support/browser.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';

let offsetMs = 0;
const clock = { now: () => new Date(Date.now() + offsetMs) };
let h: Harness;
let db: Database;
let heartbeat: Heartbeat;
let replica: Replica;
let reading: NodeJS.Timeout;
/** Those of two processes of one node: of the first, which takes the requests, and of the second. */
let processes: { takes(key: string): Promise<KnownCaller | string>; takesCookie(token: string): Promise<boolean> }[];
let asked: string[] = [];

beforeAll(async () => {
  h = await startHarness({ clock, maxAgeMs: MAX_AGE_MS });
  db = openDatabase(h.databaseUrl, { log });
  heartbeat = await startHeartbeat({ db, log }, { self: { label: 'second' } });
  const counting: Database = {
    ...db,
    query: (...statement) => {
      asked.push(statement[0]);
      return db.query(...statement);
    },
  };
  replica = createReplica({ db, log, metrics: createMetrics() }, { maxAgeMs: MAX_AGE_MS });
  const second = createAuthenticator({ db: counting, clock, replica, hasLocalAccount: false });
  await replica.start();
  // Both are busy: their copies are as old as they may get.
  reading = setInterval(() => void [h.ctx.replica.isFresh(), replica.isFresh()], 5);
  processes = [h.ctx.authenticator, second].map((authenticator) => ({
    takes: (key) => authenticator.authenticate(`Bearer ${key}`).catch((error) => error.code),
    takesCookie: (token) =>
      authenticator.authenticateSession(token).then(
        () => true,
        () => false,
      ),
  }));
});
afterAll(async () => {
  clearInterval(reading);
  replica.stop();
  await heartbeat.stop();
  await db.close();
  await h.stop();
});

/** An account whose key both processes know; all that was changed before has been applied. */
async function newKnown() {
  const owner = await h.newAccount();
  await Promise.all([h.ctx.replica.settleWrite(), replica.settleWrite()]);
  await known(owner.key);
  asked = [];
  return owner;
}

/** What each process knows of the caller with this key. */
const known = async (key: string) => Promise.all(processes.map(({ takes }) => takes(key)));
const nobody = ['UNAUTHORIZED', 'UNAUTHORIZED'];
const keyOf = async (owner: { key: string }, body: object = {}) =>
  (await h.request('POST', '/account/keys', { key: owner.key, body: { name: 'one', scopes: ['invoke'], ...body } }))
    .body.data as { apiKey: string; keyId: string };

/** A request whose headers and most of its body are sent, and the rest when it is told so. */
function heldBack(key: string, path: string, body: object) {
  const text = JSON.stringify(body);
  const status = Promise.withResolvers<number>();
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'a2a-version': '1.0',
    'content-length': Buffer.byteLength(text),
  };
  const sent = request(h.baseUrl + path, { method: 'POST', headers }, (answer) => {
    answer.resume();
    status.resolve(answer.statusCode ?? 0);
  });
  sent.on('error', status.reject);
  sent.write(text.slice(0, -1));
  return { status: status.promise, end: () => sent.end(text.slice(-1)) };
}

describe('once its end is answered, no process takes', () => {
  it('a key that was revoked, 25 times', async () => {
    const owner = await h.newAccount();
    const outcomes = await Promise.all(
      Array.from({ length: 25 }, async () => {
        const { apiKey, keyId } = await keyOf(owner);
        const before = (await known(apiKey)).map((caller) => (caller as KnownCaller).accountId);
        await h.request('DELETE', `/account/keys/${keyId}`, { key: owner.key });
        return { before, after: await known(apiKey) };
      }),
    );
    for (const { before, after } of outcomes)
      expect({ before, after }).toEqual({ before: [owner.accountId, owner.accountId], after: nobody });
  });

  it('a key that was revoked while the body of its request was held back, over REST and every gateway', async () => {
    const owner = await h.newAccount();
    const agent = await startTestAgent(h, { owner, perRequest: '0' });
    const { apiKey, keyId } = await keyOf(owner);
    const rpc = { jsonrpc: '2.0', id: 1 };
    const identified = vi.spyOn(h.ctx.authenticator, 'authenticate');
    const hold = (key: string) => [
      heldBack(key, `/invoke/${agent.id}`, { task: 'x' }),
      heldBack(key, '/v1/chat/completions', { model: agent.id, messages: [{ role: 'user', content: 'x' }] }),
      heldBack(key, '/v1/responses', { model: agent.id, input: 'x' }),
      heldBack(key, '/mcp', { ...rpc, method: 'tools/list' }),
      heldBack(key, `/a2a/${agent.id}`, { ...rpc, method: 'GetTask', params: { id: 'none' } }),
      heldBack(key, `/a2a/${agent.id}/message:send`, { message: { messageId: '1', role: 'ROLE_USER', parts: [] } }),
    ];
    const [revoked, kept] = [hold(apiKey), hold(owner.key)];
    await expect.poll(() => identified.mock.calls.length).toBe(revoked.length + kept.length);
    identified.mockRestore();
    await sleep(200);
    expect((await h.request('DELETE', `/account/keys/${keyId}`, { key: owner.key })).status).toBe(200);
    for (const { end } of [...revoked, ...kept]) end();
    expect(await Promise.all(revoked.map(({ status }) => status))).toEqual(revoked.map(() => 401));
    expect(await Promise.all(kept.map(({ status }) => status))).not.toContain(401);
    await agent.die();
  });

  it('a key that was replaced without overlap', async () => {
    const owner = await h.newAccount();
    const { apiKey, keyId } = await keyOf(owner);
    await known(apiKey);
    await h.request('POST', `/account/keys/${keyId}/roll`, { key: owner.key, body: { overlapS: 0 } });
    expect(await known(apiKey)).toEqual(nobody);
  });

  it('a session that was ended', async () => {
    const browser = await openBrowser(h);
    const token = browser.cookie().split('=')[1] ?? '';
    const taken = () => Promise.all(processes.map(({ takesCookie }) => takesCookie(token)));
    expect(await taken()).toEqual([true, true]);
    await browser.request('DELETE', '/auth/session');
    expect(await taken()).toEqual([false, false]);
  });

  it('the identityToken of an agent that was removed', async () => {
    const owner = await h.newAccount();
    const agent = await startTestAgent(h, { owner });
    expect(await known(agent.identityToken)).toEqual([1, 2].map(() => expect.objectContaining({ agentId: agent.id })));
    expect((await h.request('DELETE', `/agents/${agent.id}`, { key: owner.key })).status).toBe(200);
    expect(await known(agent.identityToken)).toEqual(nobody);
    await agent.die();
  });
});

it('a key ends by the clock, without anyone telling', async () => {
  const owner = await h.newAccount();
  const { apiKey } = await keyOf(owner, { expiresAt: new Date(clock.now().getTime() + 60_000).toISOString() });
  expect(await known(apiKey)).not.toEqual(nobody);
  offsetMs += 60_000;
  expect(await known(apiKey)).toEqual(nobody);
});

it('an account on another plan has other limits at once: in this process, and within 20 ms in the others', async () => {
  const owner = await h.newAccount({ plan: 'free' });
  const plans = async () => (await known(owner.key)).map((caller) => (caller as KnownCaller).plan);
  expect(await plans()).toEqual(['free', 'free']);
  await h.ctx.db.query('', `update account set plan = 'pro' where id = $1`, [owner.accountId]);
  await h.ctx.replica.settleWrite();
  expect(await plans()).toEqual(['pro', 'pro']);
});

it('a listed node has the limits of one while it is online', async () => {
  const owner = await h.newAccount();
  const nodes = async () => (await known(owner.key)).map((caller) => (caller as KnownCaller).node);
  const change = async (text: string) => {
    await h.ctx.db.query('', text);
    await h.ctx.replica.settleWrite();
    return nodes();
  };
  expect(await nodes()).toEqual([null, null]);
  const url = 'https://node.example';
  await h.ctx.db.query(
    '',
    `insert into network_node (id, chain_id, token_id, base_url, label, version, wallet, account_id, status, next_check_at, joined_at, last_seen_at)
     values ('nod_1', 31337, 1, $1, 'n', '1', $2, $3, 'online', now() + interval '1 day', now(), now())`,
    [url, owner.address, owner.accountId],
  );
  expect(await change(`update account set node_url = '${url}' where id = '${owner.accountId}'`)).toEqual([
    'online',
    'online',
  ]);
  expect(await change(`update network_node set status = 'offline' where id = 'nod_1'`)).toEqual(['offline', 'offline']);
  expect(await change(`update network_node set is_listed = false where id = 'nod_1'`)).toEqual([null, null]);
});

it('the use of a key is recorded once a minute, whoever makes how many calls', async () => {
  const owner = await newKnown();
  await Promise.all(Array.from({ length: 50 }, () => known(owner.key)));
  expect(asked).toEqual([]);
  offsetMs += 60_000;
  await Promise.all(Array.from({ length: 50 }, () => known(owner.key)));
  expect(asked).toEqual(['touch-api-key']);
});

it('guessed keys cost a statement for all that come together, and displace no key that is in use', async () => {
  const owner = await newKnown();
  const guesses = Array.from({ length: 400 }, () => newApiKey('test').key);
  const [, second] = processes;
  expect(new Set(await Promise.all(guesses.map((key) => second?.takes(key))))).toEqual(new Set(['UNAUTHORIZED']));
  expect(asked.length).toBeLessThanOrEqual(4);
  asked = [];
  expect(await known(owner.key)).not.toContain('UNAUTHORIZED');
  expect(asked).toEqual([]);
});

it('the id of a key in use is worth nothing without its secret', async () => {
  const owner = await newKnown();
  const [, mode, id] = owner.key.split('_');
  const body = `ank_${mode}_${id}_${'a'.repeat(SECRET_CHARS)}`;
  const withId = `${body}${checksum(body)}`;
  expect(parseApiKey(withId)).toBe(id);
  expect(await known(withId)).toEqual(nobody);
  expect(await known(owner.key)).not.toContain('UNAUTHORIZED');
});
