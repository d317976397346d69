import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastDates } from '../../../../src/calls/read/read-usage.ts';
import { askDatabase } from '../../../support/books.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { answerWith, startTestAgent } from '../../../support/test-agent.ts';
import { newClient } from '../../../support/treasury.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let owner: TestAccount;
const DAY_MS = 86_400_000;
/** Half past eleven tomorrow: late in a day, and not before the time of the chain, which judges whether payments have expired. */
const clock = fixedClock(new Date((Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS - DAY_MS / 48).toISOString());

beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
});
afterAll(() => h.stop());

const create = async (body: object, key = owner.key) =>
  (await h.request('POST', '/account/keys', { key, body: { name: 'old', ...body } })).body.data;
const roll = (keyId: string, body?: object, key = owner.key) =>
  h.request('POST', `/account/keys/${keyId}/roll`, { key, body });
const works = async (key: string) => (await h.request('GET', '/account', { key })).status === 200;

describe('rolling a key', () => {
  it('gives a new one of the same rights, and lets the old one live for a day', async () => {
    const old = await create({ scopes: ['invoke', 'payments:read'] });
    const { body } = await roll(old.keyId);
    expect(body.data).toMatchObject({
      name: 'old',
      scopes: ['invoke', 'payments:read'],
      expiresAt: null,
      replaces: old.keyId,
    });
    expect(body.data.keyId).not.toBe(old.keyId);
    expect(new Date(body.data.oldExpiresAt).getTime()).toBe(clock.now().getTime() + 86_400_000);
    expect([await works(old.apiKey), await works(body.data.apiKey)]).toEqual([true, true]);
    clock.advance(86_400_000);
    expect([await works(old.apiKey), await works(body.data.apiKey)]).toEqual([false, true]);
  });

  it('without overlap ends the old one at once', async () => {
    const old = await create({});
    expect(await works(old.apiKey)).toBe(true);
    const { body } = await roll(old.keyId, { overlapS: 0 });
    expect([await works(old.apiKey), await works(body.data.apiKey)]).toEqual([false, true]);
  });

  it('keeps the life span, and never lengthens that of the old one', async () => {
    const inAnHour = new Date(clock.now().getTime() + 3_600_000).toISOString();
    const old = await create({ expiresAt: inAnHour });
    clock.advance(600_000);
    const { body } = await roll(old.keyId);
    expect(body.data.oldExpiresAt).toBe(inAnHour);
    expect(body.data.expiresAt).toBe(new Date(clock.now().getTime() + 3_600_000).toISOString());
  });

  it('keeps an end that is far away within the years that a time can have', async () => {
    const last = '9999-12-31T23:59:59.999Z';
    const { key } = await h.newAccount();
    const old = await create({ expiresAt: last }, key);
    expect(old.expiresAt).toBe(last);
    clock.advance(1000);
    const { body } = await roll(old.keyId, {}, key);
    expect(body.data.expiresAt).toBe(last);
    const beyond = { name: 'x', expiresAt: '9999-12-31T23:59:59-00:01' };
    expectError(await h.request('POST', '/account/keys', { key, body: beyond }), 'VALIDATION_ERROR', 'expiresAt');
  });

  it('of before such an end was bounded is listed with the last time that there is', async () => {
    const { key } = await h.newAccount();
    const { keyId } = await create({}, key);
    const later = `update api_key set expires_at = '10001-01-01T00:00:00Z' where id = $1`;
    await askDatabase(h.databaseUrl, later, [keyId]);
    const { keys } = (await h.request('GET', '/account/keys', { key })).body.data;
    expect(keys).toContainEqual(expect.objectContaining({ keyId, expiresAt: '9999-12-31T23:59:59.999Z' }));
  });

  it('works for the key that asks', async () => {
    const self = await h.newAccount();
    const [{ keyId }] = (await h.request('GET', '/account/keys', { key: self.key })).body.data.keys;
    const { body } = await roll(keyId, { overlapS: 0 }, self.key);
    expect([await works(self.key), await works(body.data.apiKey)]).toEqual([false, true]);
  });

  it('eight times at once makes one new key', async () => {
    const old = await create({});
    const answers = await Promise.all(Array.from({ length: 8 }, () => roll(old.keyId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  });

  it('is refused for keys that are dead, stronger, foreign or unknown', async () => {
    const revoked = await create({});
    await h.request('DELETE', `/account/keys/${revoked.keyId}`, { key: owner.key });
    expectError(await roll(revoked.keyId), 'CONFLICT');
    const expired = await create({ expiresAt: new Date(clock.now().getTime() + 1000).toISOString() });
    clock.advance(1000);
    expectError(await roll(expired.keyId), 'CONFLICT');
    const weak = await create({ scopes: ['keys:manage', 'invoke'] });
    const strong = await create({ scopes: ['payments:withdraw'] });
    expectError(await roll(strong.keyId, {}, weak.apiKey), 'FORBIDDEN');
    expectError(await roll(strong.keyId, {}, (await create({ scopes: ['invoke'] })).apiKey), 'FORBIDDEN');
    expectError(await roll(strong.keyId, {}, (await h.newAccount()).key), 'NOT_FOUND');
    expectError(await roll('AAAAAAAAAAAA'), 'NOT_FOUND');
  });

  it.each([[{ overlapS: -1 }], [{ overlapS: 604_801 }], [{ overlapS: 1.5 }], [{ overlapS: '60' }]])(
    'refuses %j',
    async (body) => {
      expectError(await roll('AAAAAAAAAAAA', body), 'VALIDATION_ERROR', 'overlapS');
    },
  );
});

describe('usage', () => {
  const usage = async (key: string, query = '') =>
    (await h.request('GET', `/account/usage${query}`, { key })).body.data;

  it('tells what is left of the limits of this key', async () => {
    const account = await h.newAccount({ plan: 'free' });
    const { limits, plan } = await usage(account.key);
    expect(plan).toBe('free');
    const resetAt = new Date(clock.now().getTime() + 3_600_000).toISOString();
    expect(limits).toEqual({
      api: { limit: 100, used: 1, remaining: 99, resetAt },
      invocations: { limit: 10, used: 0, remaining: 10, resetAt: null },
      freeCalls: { limit: 1e9, used: 0, remaining: 1e9, resetAt: null },
    });
    clock.advance(3_600_000);
    expect((await usage(account.key)).limits.api).toMatchObject({ used: 1, remaining: 99 });
  });

  it('agrees with the headers of the same answer on a plan whose calls are leased', async () => {
    const { key } = await h.newAccount();
    for (let time = 0; time < 3; time++) await h.request('GET', '/account', { key });
    const { headers, body } = await h.request('GET', '/account/usage', { key });
    expect(body.data.limits.api).toMatchObject({ used: 4, remaining: Number(headers.get('x-ratelimit-remaining')) });
  });

  it('tells requests, outcomes, spending and earnings day by day', async () => {
    const today = () => clock.now().toISOString().slice(0, 10);
    const seller = await h.newAccount();
    const agent = await startTestAgent(h, { owner: seller, perRequest: '0.25' });
    const client = await newClient(h, '5');
    const invoke = () =>
      h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
    const first = today();
    await invoke();
    agent.behave(answerWith(400, { error: { code: 'NO', message: 'no' } }));
    await invoke();
    agent.behave(answerWith(200, { result: {} }));
    clock.advance(86_400_000);
    await invoke();
    await agent.die();
    const spent = await usage(client.key, '?days=2');
    expect(spent.days).toEqual([
      { date: first, requests: 2, completed: 1, failed: 1, spent: '0.25', earned: '0.00' },
      { date: today(), requests: 1, completed: 1, failed: 0, spent: '0.25', earned: '0.00' },
    ]);
    expect((await usage(seller.key, '?days=1')).days).toEqual([
      { date: today(), requests: 0, completed: 0, failed: 0, spent: '0.00', earned: '0.25' },
    ]);
    expect((await usage(seller.key)).days).toHaveLength(30);
    expectError(await h.request('GET', '/account/usage', { key: agent.identityToken }), 'FORBIDDEN');
  });

  it.each(['days=0', 'days=91', 'days=x', 'days=1.5', 'day=3'])('refuses ?%s', async (query) => {
    expectError(await h.request('GET', `/account/usage?${query}`, { key: owner.key }), 'VALIDATION_ERROR');
  });

  it('counts days as they are in UTC', () => {
    expect(lastDates(new Date('2026-03-01T00:00:00Z'), 3)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
  });
});
