import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../../src/accounts/keys/authenticate.ts';
import { startSession } from '../../../../src/accounts/keys/manage-sessions.ts';
import { createLog } from '../../../../src/lib/telemetry/log.ts';
import { fromOwnPage } from '../../../support/browser.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { expectError } from '../support/expect-error.ts';

const lines: string[] = [];
const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
let h: Harness;
beforeAll(async () => {
  h = await startHarness({ env: { HOST: '0.0.0.0' }, log });
});
afterAll(() => h.stop());

const registration = {
  name: 'inside',
  description: 'Stands in the network of the node.',
  capabilities: ['peek'],
  rates: { perRequest: '0' },
};

describe('a local node that listens for others', () => {
  it('says at start what is off, once', () => {
    const warnings = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith('local mode'));
    expect(warnings).toMatchObject([
      {
        level: 'warn',
        host: '0.0.0.0',
        off: expect.arrayContaining(['POST /auth/session/local', 'agents and webhooks on private addresses']),
        msg: 'local mode is reachable from other machines: the features that it reserves for this machine are off',
      },
    ]);
  });

  it('does not sign in without a wallet', async () => {
    expect(h.ctx.localAccount).toBeNull();
    expectError(await h.request('POST', '/auth/session/local', { headers: fromOwnPage(h) }), 'NOT_FOUND');
    expect((await h.request('GET', '/auth/session')).body.data.hasLocalAccount).toBe(false);
  });

  it('no longer takes sessions that were begun without a wallet while it was private', async () => {
    const { accountId } = await h.newAccount();
    const now = h.ctx.clock.now();
    const { token } = await h.ctx.db.transaction((tx) =>
      startSession(tx, { accountId, userAgent: null, isLocal: true, now }),
    );
    await expect(h.ctx.authenticator.authenticateSession(token)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const before = createAuthenticator({ ...h.ctx, hasLocalAccount: true });
    expect(await before.authenticateSession(token)).toMatchObject({ accountId });
  });

  it.each([
    'http://127.0.0.1:4020/',
    'https://localhost/',
    'https://10.0.0.1/',
    'https://192.168.1.1/',
    'http://a.example/',
  ])('calls no agent and no webhook at %s', async (url) => {
    const { key } = await h.newAccount();
    expectError(
      await h.request('POST', '/agents', { key, body: { ...registration, endpoint: url } }),
      'VALIDATION_ERROR',
      'endpoint',
    );
    expectError(await h.request('POST', '/account/webhooks', { key, body: { url } }), 'VALIDATION_ERROR', 'url');
  });

  it('counts callers without a key, and sign-ins, as production does', async () => {
    expect((await h.request('GET', '/agents')).headers.get('x-ratelimit-limit')).toBe('1000');
    const { headers } = await h.request('POST', '/auth/challenge', { body: { address: `0x${'1'.repeat(40)}` } });
    expect(headers.get('x-ratelimit-limit')).toBe('120');
  });
});
