import { api } from '@agent-network/contracts/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetOldEntries } from '../../../../src/accounts/audit.ts';
import { isAudited } from '../../../../src/http/request/audit-call.ts';
import {
  type Browser,
  cookieOf,
  fromOwnPage,
  newSigner,
  openBrowser,
  signedChallenge,
} from '../../../support/browser.ts';
import { callAndDie } from '../../../support/dying-process.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';
import { expectError } from '../support/expect-error.ts';
import { endpoints } from '../support/valid-calls.ts';

const DAY_MS = 86_400_000;
let h: Harness;
let offsetMs = 0;
beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + offsetMs) } });
});
afterAll(() => h.stop());

const entriesFor = async (key: string) => (await h.request('GET', '/account/audit', { key })).body.data.entries;
const entriesOf = async ({ request }: Browser) => (await request('GET', '/account/audit')).body.data.entries;

it('the audit log has every change of what an account manages, and nothing of its daily work', () => {
  const audited = endpoints.filter(([name, row]) => isAudited(name, row)).map(([name]) => name);
  expect(audited.sort()).toEqual(
    [
      ...['registerAgent', 'updateAgent', 'removeAgent', 'verifyIdentity', 'claimToken', 'linkToken'],
      ...['updateIdentityMetadata', 'createTreasury', 'withdraw', 'claimWallet', 'signIn', 'createSession'],
      ...['createLocalSession', 'endSession', 'endSessionById', 'endAllSessions', 'createApiKey', 'revokeApiKey'],
      ...['rollApiKey', 'createWebhook', 'updateWebhook', 'deleteWebhook', 'rotateWebhookSecret', 'testWebhook'],
      ...['replayWebhook', 'getWebhookSecret', 'setAccountPlan', 'suspendAccount', 'resumeAccount'],
      ...['creditHeldPayout', 'addTestFunds', 'collectEarnings', 'setBalanceAlert', 'deleteFile'],
    ].sort(),
  );
  expect(Object.keys(api)).toEqual(expect.arrayContaining(audited));
});

describe('an entry of the audit log', () => {
  it('says what was done, to what, by whom and from where', async () => {
    const browser = await openBrowser(h);
    const { sessionId } = (await browser.request('GET', '/auth/session')).body.data.session;
    const headers = { ...fromOwnPage(h), 'user-agent': 'Firefox' };
    const body = { name: 'ci', scopes: ['keys:manage'] };
    const { keyId, apiKey } = (await browser.request('POST', '/account/keys', { body, headers })).body.data;
    await h.request('DELETE', `/account/keys/${keyId}`, { key: apiKey });
    expect(await entriesOf(browser)).toMatchObject([
      { action: 'revokeApiKey', actor: { kind: 'key', id: keyId, name: 'ci' }, subject: { keyId }, outcome: 'done' },
      {
        ...{ action: 'createApiKey', actor: { kind: 'session', id: sessionId, name: 'session' }, subject: { keyId } },
        ...{ address: '127.0.0.1', userAgent: 'Firefox', outcome: 'done', code: null, at: expect.any(String) },
      },
      { action: 'createSession', actor: { kind: 'session', id: sessionId }, subject: { sessionId }, outcome: 'done' },
    ]);
  });

  it('tells what was refused by rule: for a scope, and for what it named', async () => {
    const owner = await h.newAccount({ scopes: ['keys:manage'] });
    expectError(await h.request('DELETE', '/account/webhooks/whk_1', { key: owner.key }), 'FORBIDDEN');
    expectError(await h.request('DELETE', '/account/keys/nothing', { key: owner.key }), 'NOT_FOUND');
    expect(await entriesFor(owner.key)).toMatchObject([
      { action: 'revokeApiKey', subject: { keyId: 'nothing' }, outcome: 'refused', code: 'NOT_FOUND' },
      { action: 'deleteWebhook', subject: { webhookId: 'whk_1' }, outcome: 'refused', code: 'FORBIDDEN' },
    ]);
  });

  it('tells a repetition under an Idempotency-Key from the call that changed something', async () => {
    const { key } = await h.newAccount();
    const call = { key, body: { name: 'x' }, headers: { 'idempotency-key': 'a' } };
    const { keyId } = (await h.request('POST', '/account/keys', call)).body.data;
    await h.request('POST', '/account/keys', call);
    const entry = { action: 'createApiKey', subject: { keyId }, outcome: 'done' };
    expect(await entriesFor(key)).toMatchObject([
      { ...entry, replayed: true },
      { ...entry, replayed: false },
    ]);
  });

  it('of a sign-in is in the log of the account that signed in, whatever credential came along', async () => {
    const [other, wallet] = [await openBrowser(h), newSigner()];
    const { apiKey: otherKey } = (await other.request('POST', '/account/keys', { body: { name: 'other' } })).body.data;
    const agent = await startTestAgent(h);
    const before = await entriesOf(other);
    const signIn = async (path: string, { key, cookie }: { key?: string; cookie?: string }) =>
      h.request('POST', path, {
        ...(key === undefined ? {} : { key }),
        body: await signedChallenge(h, wallet),
        headers: { ...fromOwnPage(h), ...(cookie === undefined ? {} : { cookie }) },
      });
    for (const key of [otherKey, agent.identityToken])
      expect((await signIn('/auth/sign-in', { key })).status).toBe(200);
    const cookie = cookieOf(await signIn('/auth/session', { cookie: other.cookie() }));
    await agent.die();
    const mine = await openBrowser(h, wallet, cookie);
    expect(await entriesOf(mine)).toMatchObject([
      { action: 'createSession', actor: { kind: 'session' } },
      { action: 'signIn', actor: { kind: 'key', name: 'sign-in' } },
      { action: 'signIn', actor: { kind: 'key', name: 'sign-in' } },
    ]);
    expect(await entriesOf(other)).toEqual(before);
  });

  it('is there of a change that was made by a process that died before it answered', async () => {
    const { key } = await h.newAccount();
    const headers = { 'idempotency-key': 'dying' };
    await callAndDie(h, '/account/keys', { key, body: { name: 'x' }, headers });
    const { keys } = (await h.request('GET', '/account/keys', { key })).body.data;
    expect(keys.length).toBe(2);
    expect(await entriesFor(key)).toMatchObject([{ action: 'createApiKey' }]);
  });

  it('is written before the change: where none can be, nothing is changed', async () => {
    const { key } = await h.newAccount();
    await h.ctx.db.pool.query('alter table audit_entry rename to gone');
    try {
      expectError(await h.request('POST', '/account/keys', { key, body: { name: 'x' } }), 'INTERNAL_ERROR');
    } finally {
      await h.ctx.db.pool.query('alter table gone rename to audit_entry');
    }
    expect((await h.request('GET', '/account/keys', { key })).body.data.keys.length).toBe(1);
  });

  it('stays unknown when it cannot be ended, and the change stands', async () => {
    const { key } = await h.newAccount();
    await h.ctx.db.pool.query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before update on audit_entry execute function refuse()`);
    try {
      expect((await h.request('POST', '/account/keys', { key, body: { name: 'x' } })).status).toBe(200);
    } finally {
      await h.ctx.db.pool.query('drop trigger refuse on audit_entry; drop function refuse()');
    }
    expect(await entriesFor(key)).toMatchObject([{ action: 'createApiKey', outcome: 'unknown', code: null }]);
  });

  it('holds no secret, body or name that was sent', async () => {
    const browser = await openBrowser(h);
    const sent = { name: 'a very secret name' };
    const { apiKey } = (await browser.request('POST', '/account/keys', { body: sent })).body.data;
    const body = { url: 'https://you.example/hooks' };
    const { secret, webhookId } = (await browser.request('POST', '/account/webhooks', { body })).body.data;
    await browser.request('GET', `/account/webhooks/${webhookId}/secret`);
    await browser.request('DELETE', `/account/keys/${'a'.repeat(101)}`);
    const text = JSON.stringify(await entriesOf(browser));
    for (const each of [sent.name, apiKey, secret, body.url, browser.cookie().split('.')[1]])
      expect(text).not.toContain(each);
    expect(text).toContain('getWebhookSecret');
  });
});

describe('the audit log', () => {
  it('is read page by page, and has nothing of other accounts', async () => {
    const [owner, stranger] = [await h.newAccount(), await h.newAccount()];
    for (let i = 0; i < 5; i++) await h.request('POST', '/account/keys', { key: owner.key, body: { name: `${i}` } });
    const read = async (query: string, key = owner.key) =>
      (await h.request('GET', `/account/audit?limit=2${query}`, { key })).body.data;
    const all: string[] = [];
    let page = await read('');
    for (; page.nextCursor; page = await read(`&cursor=${page.nextCursor}`))
      all.push(...page.entries.map(({ entryId }: { entryId: string }) => entryId));
    all.push(...page.entries.map(({ entryId }: { entryId: string }) => entryId));
    expect(all).toEqual((await entriesFor(owner.key)).map(({ entryId }: { entryId: string }) => entryId));
    expect([all.length, new Set(all).size]).toEqual([5, 5]);
    expect(await read(`&cursor=${all[0]}`, stranger.key)).toEqual({ entries: [], nextCursor: null });
  });

  it('removes entries after 400 days', async () => {
    const { key } = await h.newAccount();
    await h.request('POST', '/account/keys', { key, body: { name: 'old' } });
    offsetMs += 399 * DAY_MS;
    await forgetOldEntries(h.ctx);
    expect((await entriesFor(key)).length).toBe(1);
    offsetMs += 2 * DAY_MS;
    await forgetOldEntries(h.ctx);
    expect(await entriesFor(key)).toEqual([]);
  });
});
