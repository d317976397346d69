import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cookieOf, fromOwnPage, newSigner, openBrowser, signedChallenge } from '../../support/browser.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
const offsetMs = 0;
beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + offsetMs) } });
});
afterAll(() => h.stop());

describe('signing in with a browser', () => {
  it('sets a cookie that no script reads, that no other host or origin gets, and that acts as the account', async () => {
    const wallet = newSigner();
    const headers = { ...fromOwnPage(h), 'user-agent': 'Test\u00ff Browser' };
    const answer = await h.request('POST', '/auth/session', { body: await signedChallenge(h, wallet), headers });
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-agent-network=ses_[0-9a-z]{26}\.[0-9A-Za-z]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=2592000$/,
    );
    expect(answer.body.data).toMatchObject({ address: wallet.address.toLowerCase(), plan: 'free', isLocal: false });
    const browser = await openBrowser(h, wallet, cookieOf(answer));
    const asked = (await browser.request('GET', '/auth/session')).body.data;
    expect(asked).toMatchObject({ session: { ...answer.body.data, lastSeenAt: expect.any(String) }, chainId: 84532 });
    expect((await browser.request('GET', '/account')).body.data.accountId).toBe(answer.body.data.accountId);
    expect((await browser.request('DELETE', '/auth/session')).body.data).toEqual({ signedOut: true });
    expectError(await browser.request('GET', '/account'), 'UNAUTHORIZED');
    expect((await browser.request('GET', '/auth/session')).body.data.session).toBeNull();
  });
});
