import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { forgetOldSessions } from '../../../../src/accounts/keys/manage-sessions.ts';
import { cookieOf, fromOwnPage, newSigner, openBrowser, signedChallenge } from '../../../support/browser.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { expectError } from '../support/expect-error.ts';

const HOUR_MS = 3_600_000;
let h: Harness;
let offsetMs = 0;
beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + offsetMs) } });
});
afterAll(() => h.stop());

const signIn = (body: unknown, headers: Record<string, string> = fromOwnPage(h)) =>
  h.request('POST', '/auth/session', { body, headers });
const sessionRows = async () => (await h.ctx.db.pool.query(`select * from api_key where kind = 'session'`)).rows;

describe('signing in with a browser', () => {
  it('sets a cookie that no script reads and no other host gets, and that acts as the account', async () => {
    const wallet = newSigner();
    const headers = { ...fromOwnPage(h), 'user-agent': `Test\u00ff${'x'.repeat(300)}` };
    const answer = await signIn(await signedChallenge(h, wallet), headers);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-agent-network=ses_[0-9a-z]{26}\.[0-9A-Za-z]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=2592000$/,
    );
    const { data } = answer.body;
    expect(data).toMatchObject({ address: wallet.address.toLowerCase(), plan: 'free', isLocal: false });
    expect(data.userAgent).toBe(`Test${'x'.repeat(196)}`);
    expect(data.scopes).toEqual([
      'agents:write',
      'invoke',
      'payments:read',
      'payments:write',
      'keys:manage',
      'webhooks:manage',
    ]);
    const browser = await openBrowser(h, wallet, cookieOf(answer));
    expect((await browser.request('GET', '/auth/session')).body.data).toMatchObject({
      eventsAt: expect.any(Number),
      ...{
        session: data,
        hasLocalAccount: true,
        label: 'local',
        chainId: 84532,
        isLocalChain: true,
        usdc: h.ctx.chain.token,
      },
    });
    expect((await browser.request('GET', '/account')).body.data.accountId).toBe(data.accountId);
  });

  it('takes contract wallets', async () => {
    const { address } = newSigner();
    await callChain(h.rpcUrl, 'anvil_setCode', address, '0x631626ba7e60e01b60005260206000f3');
    const { challengeId } = (await h.request('POST', '/auth/challenge', { body: { address } })).body.data;
    expect((await signIn({ challengeId, signature: '0x1234' })).body.data.address).toBe(address.toLowerCase());
  });

  it('takes a challenge once, for a session or a key, and only as it was given, byte for byte', async () => {
    const wallet = newSigner();
    const body = await signedChallenge(h, wallet);
    expect((await Promise.all([signIn(body), signIn(body)])).map(({ status }) => status).sort()).toEqual([200, 409]);
    expectError(await h.request('POST', '/auth/sign-in', { body }), 'CONFLICT');
    const { challengeId, message } = (await h.request('POST', '/auth/challenge', { body: { address: wallet.address } }))
      .body.data;
    for (const changed of [`${message} `, message.replace(/\n/g, '\r\n'), message.replace(/Nonce: ./, 'Nonce: Z')]) {
      const signature = await wallet.signMessage({ message: changed });
      expectError(await signIn({ challengeId, signature }), 'VALIDATION_ERROR');
    }
    const stranger = await newSigner().signMessage({ message });
    expectError(await signIn({ challengeId, signature: stranger }), 'VALIDATION_ERROR');
    expect((await signIn({ challengeId, signature: await wallet.signMessage({ message }) })).status).toBe(200);
  });

  it('asking who is signed in makes nothing', async () => {
    const before = await sessionRows();
    const answer = await h.request('GET', '/auth/session', { headers: fromOwnPage(h) });
    expect([answer.body.data.session, answer.headers.get('set-cookie')]).toEqual([null, null]);
    expect(await sessionRows()).toEqual(before);
  });

  it('gives the scope of operators to their sessions, as long as they are', async () => {
    const wallet = newSigner();
    const browser = await openBrowser(h, wallet);
    const scopes = async () => {
      return (await browser.request('GET', '/auth/session')).body.data.session.scopes;
    };
    expect(await scopes()).not.toContain('operator');
    expect(await scopes()).not.toContain('metrics:read');
    const { accountId } = (await browser.request('GET', '/account')).body.data;
    const key = { accountId, name: 'op', scopes: ['operator'] as const, expiresAt: null };
    const { keyId } = await issueApiKey(h.ctx, key);
    expect(await scopes()).toEqual(expect.arrayContaining(['metrics:read', 'operator']));
    await browser.request('DELETE', `/account/keys/${keyId}`);
    expect(await scopes()).not.toContain('operator');
    // A key that reads metrics gives its account's sessions nothing.
    await issueApiKey(h.ctx, { ...key, scopes: ['metrics:read'] });
    expect(await scopes()).not.toContain('metrics:read');
  });
});

describe('a session is not', () => {
  it('a cookie is no key and no key a cookie, whichever was used before', async () => {
    const browser = await openBrowser(h);
    expect((await browser.request('GET', '/account')).status).toBe(200);
    const token = browser.cookie().split('=')[1] ?? '';
    for (const key of [token, token.split('.')[1]])
      expectError(await h.request('GET', '/account', { key }), 'UNAUTHORIZED');
    const { key } = await h.newAccount();
    expect((await h.request('GET', '/account', { key })).status).toBe(200);
    const withKey = await openBrowser(h, browser.wallet, `__Host-agent-network=${key}`);
    expectError(await withKey.request('GET', '/account'), 'UNAUTHORIZED');
    const renamed = await openBrowser(h, browser.wallet, browser.cookie().replace('__Host-', ''));
    expectError(await renamed.request('GET', '/account'), 'UNAUTHORIZED');
  });

  it('a call with a key ignores the cookie, a bad key included', async () => {
    const browser = await openBrowser(h);
    const { key, accountId } = await h.newAccount();
    const headers = { cookie: browser.cookie(), ...fromOwnPage(h) };
    expect((await h.request('GET', '/account', { key, headers })).body.data.accountId).toBe(accountId);
    expectError(await h.request('GET', '/account', { key: 'nonsense', headers }), 'UNAUTHORIZED');
    expect((await h.request('DELETE', '/auth/session', { key, headers })).body.data).toEqual({ signedOut: false });
    expect((await browser.request('GET', '/account')).status).toBe(200);
  });

  it('no key: it is not in the list of keys, is not rolled or revoked as one, and no key is ended as a session', async () => {
    const browser = await openBrowser(h);
    const { sessionId } = (await browser.request('GET', '/auth/session')).body.data.session;
    const made = (await browser.request('POST', '/account/keys', { body: { name: 'a key' } })).body.data;
    const { keys } = (await browser.request('GET', '/account/keys')).body.data;
    expect(keys.map(({ keyId }: { keyId: string }) => keyId)).toEqual([made.keyId]);
    expectError(await browser.request('DELETE', `/account/keys/${sessionId}`), 'NOT_FOUND');
    expectError(await browser.request('POST', `/account/keys/${sessionId}/roll`), 'NOT_FOUND');
    expectError(await browser.request('DELETE', `/auth/sessions/${made.keyId}`), 'NOT_FOUND');
    expect((await h.request('GET', '/account', { key: made.apiKey })).status).toBe(200);
  });

  it('the way to a key that withdraws: the refusal says what is', async () => {
    const browser = await openBrowser(h);
    const body = { name: 'x', scopes: ['payments:withdraw'] };
    const refused = await browser.request('POST', '/account/keys', { body });
    expectError(refused, 'FORBIDDEN');
    expect(refused.body.error.message).toContain('POST /payments/withdraw/challenge');
    const { accountId } = (await browser.request('GET', '/account')).body.data;
    const key = { accountId, name: 'x', scopes: ['payments:withdraw'] as const, expiresAt: null };
    const { keyId } = await issueApiKey(h.ctx, key);
    expectError(await browser.request('POST', `/account/keys/${keyId}/roll`), 'FORBIDDEN');
  });
});

describe('the limits of a session', () => {
  it('are enough for pages, whatever the plan; counted for all sessions of the account together', async () => {
    const wallet = newSigner();
    const [first, second] = [await openBrowser(h, wallet), await openBrowser(h, wallet)];
    const left = async ({ request }: typeof first) => {
      const { headers } = await request('GET', '/account');
      return [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')];
    };
    expect([await left(first), await left(second)]).toEqual([
      ['10000', '9999'],
      ['10000', '9998'],
    ]);
  });

  it('guessing cookies counts against the address', async () => {
    const guess = await openBrowser(h, newSigner(), `__Host-agent-network=ses_${'0'.repeat(26)}.${'a'.repeat(43)}`);
    const left = async () => Number((await guess.request('GET', '/account')).headers.get('x-ratelimit-remaining'));
    expect(await left()).toBe((await left()) + 1);
  });
});

describe('the end of a session', () => {
  it('comes 12 hours after it was last seen', async () => {
    const browser = await openBrowser(h);
    const ask = async () => (await browser.request('GET', '/account')).status;
    for (const hours of [11, 11]) {
      offsetMs += hours * HOUR_MS;
      expect(await ask()).toBe(200);
    }
    offsetMs += 12 * HOUR_MS;
    expectError(await browser.request('GET', '/account'), 'UNAUTHORIZED');
    expect((await browser.request('GET', '/auth/session')).body.data.session).toBeNull();
  });

  it('comes after 30 days, however much it is used', async () => {
    const browser = await openBrowser(h);
    const startMs = offsetMs;
    for (; offsetMs - startMs < 30 * 24 * HOUR_MS; offsetMs += 10 * HOUR_MS) {
      expect((await browser.request('GET', '/account')).status).toBe(200);
    }
    expectError(await browser.request('GET', '/account'), 'UNAUTHORIZED');
  });

  it('is put off by at most one write a minute', async () => {
    const browser = await openBrowser(h);
    const { sessionId } = (await browser.request('GET', '/auth/session')).body.data.session;
    const seen = async () => {
      await browser.request('GET', '/account');
      return (await h.ctx.db.pool.query('select last_used_at from api_key where id = $1', [sessionId])).rows[0];
    };
    const first = await seen();
    offsetMs += 30_000;
    expect(await seen()).toEqual(first);
    offsetMs += 31_000;
    expect(await seen()).not.toEqual(first);
  });

  it('is at once when it signs out; the cookie is cleared, also one that had ended', async () => {
    const browser = await openBrowser(h);
    const out = await browser.request('DELETE', '/auth/session');
    expect(out.body.data).toEqual({ signedOut: true });
    expect(out.headers.get('set-cookie')).toBe(
      '__Host-agent-network=; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=0',
    );
    expectError(await browser.request('GET', '/account'), 'UNAUTHORIZED');
    const again = await browser.request('DELETE', '/auth/session');
    expect([again.body.data, again.headers.get('set-cookie')]).toEqual([
      { signedOut: false },
      out.headers.get('set-cookie'),
    ]);
    const signedIn = await openBrowser(h, browser.wallet, undefined);
    expect((await signedIn.request('GET', '/account')).status).toBe(200);
  });

  it('is for one of the account, or for all of them, and never for those of another account', async () => {
    const wallet = newSigner();
    const [here, there, stranger] = [await openBrowser(h, wallet), await openBrowser(h, wallet), await openBrowser(h)];
    const list = async ({ request }: typeof here) => (await request('GET', '/auth/sessions')).body.data.sessions;
    const [newest, oldest] = await list(here);
    expect([newest.isCurrent, oldest.isCurrent, (await list(here)).length]).toEqual([false, true, 2]);
    expect((await list(stranger)).map(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toEqual([true]);
    expectError(await stranger.request('DELETE', `/auth/sessions/${newest.sessionId}`), 'NOT_FOUND');
    expect((await stranger.request('DELETE', '/auth/sessions')).body.data).toEqual({ ended: 1 });
    expect((await there.request('GET', '/account')).status).toBe(200);
    const ended = { sessionId: newest.sessionId, ended: true };
    expect((await here.request('DELETE', `/auth/sessions/${newest.sessionId}`)).body.data).toEqual(ended);
    expectError(await there.request('GET', '/account'), 'UNAUTHORIZED');
    expectError(await here.request('DELETE', `/auth/sessions/${newest.sessionId}`), 'NOT_FOUND');
    await openBrowser(h, wallet);
    expect((await here.request('DELETE', '/auth/sessions')).body.data).toEqual({ ended: 2 });
    expectError(await here.request('GET', '/account'), 'UNAUTHORIZED');
  });

  it('comes for the oldest when there are more than 50', async () => {
    const wallet = newSigner();
    const first = await openBrowser(h, wallet);
    for (let i = 0; i < 49; i++) await openBrowser(h, wallet);
    expect((await first.request('GET', '/account')).status).toBe(200);
    await openBrowser(h, wallet);
    expectError(await first.request('GET', '/account'), 'UNAUTHORIZED');
  });

  it('leaves nothing a day after it could live', async () => {
    const browser = await openBrowser(h);
    const { sessionId } = (await browser.request('GET', '/auth/session')).body.data.session;
    const isThere = async () => (await sessionRows()).some(({ id }) => id === sessionId);
    await forgetOldSessions(h.ctx);
    expect(await isThere()).toBe(true);
    offsetMs += 32 * 24 * HOUR_MS;
    await forgetOldSessions(h.ctx);
    expect(await isThere()).toBe(false);
  });
});

it('the stored form of a session does not authenticate', async () => {
  const browser = await openBrowser(h);
  const secret = browser.cookie().split('.')[1] ?? '';
  expect(JSON.stringify(await sessionRows())).not.toContain(secret);
  const [{ id, secret_hash }] = (await sessionRows()).slice(-1);
  const forged = await openBrowser(
    h,
    newSigner(),
    `__Host-agent-network=${id}.${secret_hash.toString('hex').slice(0, 43)}`,
  );
  expectError(await forged.request('GET', '/account'), 'UNAUTHORIZED');
});
