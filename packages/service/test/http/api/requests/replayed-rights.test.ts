import { type Scope, scopes } from '@agent-network/contracts/access/scopes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetSecrets } from '../../../../src/accounts/idempotency/idempotency.ts';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { askDatabase } from '../../../support/books.ts';
import { openBrowser } from '../../../support/browser.ts';
import { callAndDie } from '../../../support/dying-process.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let offsetMs = 0;
beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + offsetMs) } });
});
afterAll(() => h.stop());

const keyOf = async (accountId: string, scopes: readonly Scope[]) =>
  (await issueApiKey(h.ctx, { accountId, name: 'further', scopes, expiresAt: null })).apiKey;
const withdrawer = { name: 'withdrawer', scopes: ['payments:withdraw', 'payments:read'] };
const call = (key: string, name: string, body: unknown = withdrawer) => ({
  ...{ key, body, headers: { 'idempotency-key': name } },
});
const audited = async (key: string) => (await h.request('GET', '/account/audit', { key })).body.data.entries;

describe('a repetition under an Idempotency-Key', () => {
  it('is refused to a key that lacks a right of the key that made the call, and the refusal is audited', async () => {
    const { key, accountId } = await h.newAccount();
    await h.request('POST', '/account/keys', call(key, 'rights'));
    const manager = await keyOf(accountId, ['keys:manage']);
    expectError(await h.request('POST', '/account/keys', call(manager, 'rights')), 'FORBIDDEN');
    expect((await audited(key))[0]).toMatchObject({
      ...{ action: 'createApiKey', outcome: 'refused', code: 'FORBIDDEN', replayed: true },
      actor: { name: 'further' },
    });
  });

  it('is refused to a session that lacks a right of the key that made the call', async () => {
    const browser = await openBrowser(h);
    const { accountId } = (await browser.request('GET', '/auth/session')).body.data.session;
    const key = await keyOf(accountId, ['keys:manage', 'payments:withdraw', 'payments:read']);
    await h.request('POST', '/account/keys', call(key, 'session'));
    const { body, headers } = call('', 'session');
    const own = { 'sec-fetch-site': 'same-origin', origin: h.baseUrl, ...headers };
    expectError(await browser.request('POST', '/account/keys', { body, headers: own }), 'FORBIDDEN');
  });

  it('takes nothing over from a process that died, with less than the rights of who called it', async () => {
    const { key, accountId } = await h.newAccount();
    const agent = await startTestAgent(h, { perRequest: '0' });
    const path = `/invoke/${agent.id}`;
    const task = { task: 'x' };
    await callAndDie(h, path, call(key, 'taken-over', task));
    const lesser = await keyOf(accountId, ['invoke']);
    expectError(await h.request('POST', path, call(lesser, 'taken-over', task)), 'FORBIDDEN');
    expect((await h.request('POST', path, call(key, 'taken-over', task))).status).toBe(200);
    await agent.die();
  });

  it('is answered for another key of at least the same rights', async () => {
    const { key, accountId } = await h.newAccount({ scopes: ['keys:manage', 'invoke'] });
    const made = await h.request('POST', '/account/keys', call(key, 'same', { name: 'x', scopes: ['invoke'] }));
    const peer = await keyOf(accountId, ['invoke', 'keys:manage', 'payments:read']);
    const again = await h.request('POST', '/account/keys', call(peer, 'same', { name: 'x', scopes: ['invoke'] }));
    expect(again.body.data).toMatchObject({ keyId: made.body.data.keyId, apiKey: null });
  });
});

describe('a secret that is shown once', () => {
  it('is in no repetition, which says how to get another: an API key is rolled', async () => {
    const { key } = await h.newAccount();
    const first = (await h.request('POST', '/account/keys', call(key, 'shown'))).body.data;
    const again = await h.request('POST', '/account/keys', call(key, 'shown'));
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(again.body.data).toEqual({ ...first, apiKey: null, secretNotice: expect.stringContaining('/roll') });
    const rolled = await h.request('POST', `/account/keys/${first.keyId}/roll`, { key });
    expect(rolled.body.data.apiKey).toMatch(/^ank_/);
  });

  it('of a webhook is read with the right to manage webhooks', async () => {
    const { key } = await h.newAccount();
    const hook = call(key, 'hook', { url: 'http://127.0.0.1:1/x' });
    const first = (await h.request('POST', '/account/webhooks', hook)).body.data;
    const again = (await h.request('POST', '/account/webhooks', hook)).body.data;
    expect([again.secret, again.secretNotice]).toEqual([null, expect.stringContaining('/secret')]);
    const path = `/account/webhooks/${first.webhookId}/secret`;
    expect((await h.request('GET', path, { key })).body.data.secret).toBe(first.secret);
  });

  it('of an agent is replaced with a signature of the wallet that owns it, and the old one is good for nothing', async () => {
    const browser = await openBrowser(h);
    const { accountId } = (await browser.request('GET', '/auth/session')).body.data.session;
    const key = await keyOf(accountId, ['agents:write']);
    const body = { name: 'a', capabilities: ['x'], rates: { perRequest: '1' }, endpoint: 'http://127.0.0.1:1/' };
    const { id, identityToken } = (await h.request('POST', '/agents', call(key, 'agent', body))).body.data;
    const again = (await h.request('POST', '/agents', call(key, 'agent', body))).body.data;
    expect(again).toMatchObject({ id, identityToken: null, secretNotice: expect.stringContaining('newIdentityToken') });
    const verify = (wish: object) => h.request('POST', '/identity/verify', { key, body: wish });
    const { challengeId, message } = (await verify({ agentId: id, proof: 'wallet' })).body.data;
    const signature = await browser.wallet.signMessage({ message });
    const proven = (await verify({ challengeId, signature, newIdentityToken: true })).body.data;
    expect((await h.request('GET', '/payments/balance', { key: identityToken })).status).toBe(401);
    expect((await h.request('GET', '/payments/balance', { key: proven.identityToken })).status).toBe(200);
  });

  it('and was not, as its process died, is shown once, to the caller alone', async () => {
    const { key, accountId } = await h.newAccount();
    const died = { before: 'take-idempotent-secret' };
    expect((await callAndDie(h, '/account/keys', call(key, 'lost'), died)).status).toBe(503);
    const peer = await keyOf(accountId, scopes);
    expect((await h.request('POST', '/account/keys', call(peer, 'lost'))).body.data.apiKey).toBeNull();
    const answers = await Promise.all([1, 2, 3].map(() => h.request('POST', '/account/keys', call(key, 'lost'))));
    const shown = answers.map(({ body }) => body.data.apiKey).filter((apiKey) => apiKey !== null);
    expect(shown).toEqual([expect.stringMatching(/^ank_/)]);
    expect((await h.request('GET', '/account', { key: shown[0] })).status).toBe(200);
  });

  it('waits for its repetition for ten minutes, then it is gone', async () => {
    const { key } = await h.newAccount();
    await callAndDie(h, '/account/keys', call(key, 'late'), { before: 'take-idempotent-secret' });
    const kept = 'select count(*)::int as n from idempotency where secret_sealed is not null';
    expect(await askDatabase(h.databaseUrl, kept)).toEqual([{ n: 1 }]);
    offsetMs = 601_000;
    expect((await h.request('POST', '/account/keys', call(key, 'late'))).body.data.apiKey).toBeNull();
    await forgetSecrets(h.ctx);
    offsetMs = 0;
    expect(await askDatabase(h.databaseUrl, kept)).toEqual([{ n: 0 }]);
  });

  it('is in no stored answer, however it is opened', async () => {
    const { key, accountId } = await h.newAccount();
    const { apiKey } = (await h.request('POST', '/account/keys', call(key, 'stored'))).body.data;
    const rows = await askDatabase<{ answer: Buffer; secret: Buffer | null }>(
      h.databaseUrl,
      'select answer_sealed as answer, secret_sealed as secret from idempotency where account_id = $1',
      [accountId],
    );
    expect(rows.map(({ secret }) => secret)).toEqual([null]);
    const opened = rows.map(({ answer }) => h.ctx.secrets.open(answer)).join();
    expect(opened).toContain('"keyId"');
    expect(opened).not.toContain(apiKey);
  });
});
