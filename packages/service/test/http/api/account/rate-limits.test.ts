import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCaller } from '../../../../src/accounts/caller.ts';
import type { LimitState } from '../../../../src/accounts/limits/rate-limit.ts';
import { createRateLimiter } from '../../../../src/accounts/limits/rate-limiter.ts';
import { readLimitUse } from '../../../../src/accounts/limits/read-limit-use.ts';
import { createApp } from '../../../../src/compose/app.ts';
import { newSigner, openBrowser, signedChallenge } from '../../../support/browser.ts';
import { emptyWallet } from '../../../support/chain-actions.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { payV2 } from '../../../support/x402-payer.ts';
import { expectError } from '../support/expect-error.ts';

const HOUR_MS = 3_600_000;
const clock = fixedClock(new Date());
let h: Harness;
let free: TestAgent;
let paid: TestAgent;
beforeAll(async () => {
  h = await startHarness({ clock, env: { ANONYMOUS_REQUESTS_PER_HOUR: '60', SIGN_INS_PER_HOUR: '40' } });
  const owner = await h.newAccount();
  free = await startTestAgent(h, { owner, perRequest: '0' });
  paid = await startTestAgent(h, { owner, perRequest: '0.05' });
  // The agents' own start was watched without a key.
  clock.advance(HOUR_MS);
});
afterAll(async () => {
  await Promise.all([free.die(), paid.die()]);
  await h.stop();
});

const countOf = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
const times = (count: number, send: () => Promise<Answer>) => Promise.all(Array.from({ length: count }, send));
const manyScopes = ['invoke', 'agents:write', 'payments:read', 'keys:manage'];
const registration = {
  name: 'one of many',
  description: 'Does nothing.',
  capabilities: ['nothing'],
  rates: { perRequest: '0.01' },
  endpoint: 'http://127.0.0.1:9/',
};
const accountOf = async (key: string) => (await h.request('GET', '/account', { key })).body.data as TestAccount;
const account = (key: string) => () => h.request('GET', '/account', { key });
const invoke = (key: string, agent = free, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true', ...headers } });

function expectLimited(answer: Answer, type: string, limit: number): void {
  expectError(answer, 'RATE_LIMITED');
  expect(answer.body.error.message).toContain('Retry-After');
  const retryAfterS = Number(answer.headers.get('retry-after'));
  expect(retryAfterS).toBeGreaterThan(0);
  expect(retryAfterS).toBeLessThanOrEqual(3600);
  expect(answer.body.error.details).toEqual({ limit, type, retryAfterS });
  expect(answer.headers.get('ratelimit-policy')).toBe(`"${type}";q=${limit};w=3600`);
  expect(answer.headers.get('ratelimit')).toBe(`"${type}";r=0;t=${retryAfterS}`);
  expect(answer.headers.get('x-ratelimit-limit')).toBe(String(limit));
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('0');
}

describe('the free plan', () => {
  it('is exactly 100 calls an hour, however many come at once, and begins anew after the hour', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const answers = await times(130, account(key));
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([100, 30]);
    const remaining = answers
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    for (const refused of answers.filter(({ status }) => status === 429)) expectLimited(refused, 'api', 100);

    const resetS = Number(answers[0]?.headers.get('x-ratelimit-reset'));
    expect(resetS).toBe(Math.ceil((clock.now().getTime() + HOUR_MS) / 1000));
    clock.advance(HOUR_MS - 1);
    expectLimited(await account(key)(), 'api', 100);
    clock.advance(1);
    const again = await times(110, account(key));
    expect(countOf(again, 200)).toBe(100);
  });

  it('is exactly 10 invocations an hour, and each also counts as a call', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const before = free.calls.length;
    const answers = await times(25, () => invoke(key));
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([10, 15]);
    expect(free.calls.length - before).toBe(10);
    for (const answer of answers) expect(answer.headers.get('x-ratelimit-type')).toBe('invocations');
    for (const refused of answers.filter(({ status }) => status === 429)) expectLimited(refused, 'invocations', 10);
    expect((await account(key)()).headers.get('x-ratelimit-remaining')).toBe('74');
    clock.advance(HOUR_MS);
    expect((await invoke(key)).headers.get('x-ratelimit-remaining')).toBe('9');
  });

  it('is that of the account: further keys, sessions and agents add nothing to it', async () => {
    const browser = await openBrowser(h);
    const made = () => browser.request('POST', '/account/keys', { body: { name: 'more', scopes: ['payments:read'] } });
    const keys = (await times(9, made)).map(({ body }) => body.data.apiKey as string);
    const { body } = await browser.request('POST', '/account/keys', { body: { name: 'all', scopes: manyScopes } });
    const all = body.data.apiKey as string;
    const agent = await startTestAgent(h, { owner: { ...(await accountOf(all)), key: all } });
    const left = async (key: string) =>
      Number((await h.request('GET', '/account', { key })).headers.get('x-ratelimit-remaining'));
    const before = await left(all);
    expect(before).toBeLessThanOrEqual(100 - 11);
    expect([await left(keys[0] ?? ''), await left(keys[8] ?? '')]).toEqual([before - 1, before - 2]);
    expect(Number((await made()).headers.get('x-ratelimit-remaining'))).toBe(before - 3);
    const answers = await Promise.all(
      [...keys, all, agent.identityToken]
        .flatMap((key) => Array.from({ length: 12 }, account(key)))
        .map((send) => send),
    );
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([before - 3, 132 - (before - 3)]);
    for (const key of [...keys, agent.identityToken]) expectLimited(await account(key)(), 'api', 100);
    expectLimited(await made(), 'api', 100);
    // Its pages stay readable, under a limit of their own.
    expect((await browser.request('GET', '/account')).headers.get('x-ratelimit-limit')).toBe('10000');
    await agent.die();
    clock.advance(HOUR_MS);
  });

  it('has an agent, a key and a session invoke ten times together', async () => {
    const browser = await openBrowser(h);
    const { body } = await browser.request('POST', '/account/keys', { body: { name: 'all', scopes: manyScopes } });
    const key = body.data.apiKey as string;
    const agent = await startTestAgent(h, { owner: { ...(await accountOf(key)), key } });
    const bySession = () => browser.request('POST', `/invoke/${free.id}`, { body: { task: 'x' } });
    const answers = (
      await Promise.all([times(6, () => invoke(agent.identityToken)), times(6, () => invoke(key)), times(6, bySession)])
    ).flat();
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([10, 8]);
    for (const refused of answers.filter(({ status }) => status === 429)) expectLimited(refused, 'invocations', 10);
    await agent.die();
    clock.advance(HOUR_MS);
  });
});

describe('the keys of an account', () => {
  it('are at most ten on the free plan, however many are asked for at once; a revoked one makes room', async () => {
    const browser = await openBrowser(h);
    const make = () => browser.request('POST', '/account/keys', { body: { name: 'more' } });
    const answers = await times(30, make);
    expect([countOf(answers, 200), countOf(answers, 409)]).toEqual([10, 20]);
    for (const refused of answers.filter(({ status }) => status === 409)) {
      expectError(refused, 'CONFLICT');
      expect(refused.body.error.message).toBe(
        'An account of plan "free" has at most 10 valid API keys; revoke one first.',
      );
    }
    const { keyId } = (answers.find(({ status }) => status === 200) as Answer).body.data;
    expectError(await browser.request('POST', `/account/keys/${keyId}/roll`), 'CONFLICT');
    expect((await browser.request('POST', `/account/keys/${keyId}/roll`, { body: { overlapS: 0 } })).status).toBe(200);
    const listed = (await browser.request('GET', '/account/keys')).body.data;
    expect([listed.mostKeys, listed.keys.length, listed.limits.api.used]).toEqual([10, 11, 32]);
    expect(listed.keys.map(({ use }: { use: object | null }) => use !== null)).toEqual([
      ...Array(10).fill(true),
      false,
    ]);
    expectError(await make(), 'CONFLICT');
    await browser.request('DELETE', `/account/keys/${listed.keys[0].keyId}`);
    expect((await make()).status).toBe(200);
    clock.advance(HOUR_MS);
  });

  it('that came from signing in give way to a new sign-in, the oldest first; those that were made do not', async () => {
    const browser = await openBrowser(h);
    const signIn = async () => h.request('POST', '/auth/sign-in', { body: await signedChallenge(h, browser.wallet) });
    const first = (await signIn()).body.data.apiKey as string;
    clock.advance(1);
    const second = (await signIn()).body.data.apiKey as string;
    const made = await times(8, () => browser.request('POST', '/account/keys', { body: { name: 'made' } }));
    expect(countOf(made, 200)).toBe(8);
    const third = (await signIn()).body.data.apiKey as string;
    const works = async (key: string) => (await account(key)()).status === 200;
    expect([await works(first), await works(second), await works(third)]).toEqual([false, true, true]);
    const { keys } = (await browser.request('GET', '/account/keys')).body.data;
    for (const { keyId, name } of keys)
      if (name === 'sign-in') await browser.request('DELETE', `/account/keys/${keyId}`);
    await times(2, () => browser.request('POST', '/account/keys', { body: { name: 'made' } }));
    expectError(await signIn(), 'CONFLICT');
    clock.advance(HOUR_MS);
  });
});

describe('the agents of an account', () => {
  it('are at most twenty on the free plan; a removed one makes room', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const register = () => h.request('POST', '/agents', { key, body: registration });
    const answers = await times(25, register);
    expect([countOf(answers, 200), countOf(answers, 409)]).toEqual([20, 5]);
    const refused = answers.find(({ status }) => status === 409) as Answer;
    expect(refused.body.error.message).toBe('An account of plan "free" has at most 20 agents; remove one first.');
    const { id } = (answers.find(({ status }) => status === 200) as Answer).body.data;
    expect((await h.request('DELETE', `/agents/${id}`, { key })).status).toBe(200);
    expect((await register()).status).toBe(200);
  });
});

/** A paid call of a process that holds its settlements up. */
async function invokeHeldUp(key: string, headers: Record<string, string>, syncWaitMs: number, hold: () => unknown) {
  const { settler } = h.ctx;
  const settle: typeof settler.settle = async (payment) => {
    await hold();
    return settler.settle(payment);
  };
  return createApp({ ...h.ctx, syncWaitMs, settler: { ...settler, settle } }).request(`/invoke/${paid.id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-sync': 'true', ...headers },
    body: JSON.stringify({ task: 'x' }),
  });
}

it('an invocation counts although its payment was still on its way when the wait was over, and once for all repetitions', async () => {
  const { key } = await h.newAccount({ plan: 'free' });
  const headers = await payV2(h, await h.newWallet(), await invoke(key, paid));
  const mined = Promise.withResolvers<void>();
  const early = await invokeHeldUp(key, headers, 0, () => mined.promise);
  expect([early.status, ((await early.json()) as Answer['body']).error.code]).toEqual([503, 'PAYMENT_PENDING']);
  mined.resolve();
  const late = await invoke(key, paid, headers);
  expect([late.status, late.headers.get('x-ratelimit-remaining')]).toEqual([200, '9']);
});

describe('a call that becomes no invocation does not count as one', () => {
  it('one that was accepted, and whose payment failed', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const wallet = await h.newWallet(50_000n);
    const headers = await payV2(h, wallet, await invoke(key, paid));
    const failed = await invokeHeldUp(key, headers, 30_000, () => emptyWallet(h.rpcUrl, h, wallet, 50_000n));
    expect([failed.status, failed.headers.get('x-ratelimit-remaining')]).toEqual([402, '10']);
  });

  it('an answer of 402 that asks for payment, a refused request, a missing scope and a replay', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const wallet = await h.newWallet();
    const unpaid = await invoke(key, paid);
    expect(unpaid.status).toBe(402);
    expect(unpaid.headers.get('x-ratelimit-remaining')).toBe('10');
    const headers = await payV2(h, wallet, unpaid);
    expect((await invoke(key, paid, headers)).headers.get('x-ratelimit-remaining')).toBe('9');
    for (let replay = 0; replay < 12; replay++) {
      const answer = await invoke(key, paid, headers);
      expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([200, '9']);
    }
    for (let refused = 0; refused < 12; refused++)
      expectError(
        await h.request('POST', `/invoke/${free.id}`, { key, body: { task: '' } }),
        'VALIDATION_ERROR',
        'task',
      );
    const narrow = await h.request('POST', '/account/keys', { key, body: { name: 'n', scopes: ['payments:read'] } });
    expect((await invoke(narrow.body.data.apiKey)).headers.get('x-ratelimit-remaining')).toBe('9');
    expect((await invoke(key)).headers.get('x-ratelimit-remaining')).toBe('8');
  });
});

it('a call beyond the limit of all calls counts against no other limit', async () => {
  const { key } = await h.newAccount({ plan: 'free' });
  await times(99, account(key));
  const [first, second] = [await invoke(key), await invoke(key)];
  expect(first.status).toBe(200);
  expectLimited(second, 'api', 100);
  const caller = (await h.ctx.authenticator.authenticate(`Bearer ${key}`)) as AccountCaller;
  expect((await readLimitUse(h.ctx, caller)).invocations.used).toBe(1);
  clock.advance(HOUR_MS);
});

describe('without a key', () => {
  it('calls count against the address, and bad keys do too', async () => {
    clock.advance(HOUR_MS);
    const good = await times(30, () => h.request('GET', '/agents'));
    const bad = await times(30, () => h.request('GET', '/agents', { key: 'ank_test_guess' }));
    expect([countOf(good, 200), countOf(bad, 401)]).toEqual([30, 30]);
    expect(bad.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toContain('0');
    for (const request of [{}, { key: 'ank_test_guess' }])
      expectLimited(await h.request('GET', '/agents', request), 'api', 60);
    const { key } = await h.newAccount();
    expect((await h.request('GET', '/agents', { key })).status).toBe(200);
    clock.advance(HOUR_MS);
    expect((await h.request('GET', '/agents')).status).toBe(200);
  });
});

describe('signing in', () => {
  it('is limited by network address, also for who shows a key: accounts are not opened in a hurry', async () => {
    clock.advance(HOUR_MS);
    const { key } = await h.newAccount();
    const challenge = (options: object) => () =>
      h.request('POST', '/auth/challenge', { body: { address: newSigner().address }, ...options });
    const answers = [...(await times(30, challenge({}))), ...(await times(20, challenge({ key })))];
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([40, 10]);
    for (const refused of answers.filter(({ status }) => status === 429)) expectLimited(refused, 'signIns', 40);
    expectLimited(await h.request('POST', '/auth/sign-in', { body: {} }), 'signIns', 40);
    const headers = { 'sec-fetch-site': 'same-origin', origin: h.baseUrl };
    expectLimited(await h.request('POST', '/auth/session', { body: {}, headers }), 'signIns', 40);
    expectLimited(await h.request('POST', '/auth/session/local', { headers }), 'signIns', 40);
    expect((await h.request('GET', '/auth/session')).status).toBe(200);
    clock.advance(HOUR_MS);
    expect((await challenge({})()).status).toBe(200);
  });
});

describe('several processes on one database', () => {
  /** A limiter, and the names of its statements. */
  const counting = () => {
    const asked: string[] = [];
    const query: typeof h.ctx.db.query = (...statement) => {
      asked.push(statement[0]);
      return h.ctx.db.query(...statement);
    };
    return { asked, limiter: createRateLimiter({ db: { ...h.ctx.db, query }, clock }) };
  };

  it.each([1, 10, 100, 5000])('together never exceed a limit of %i', async (limit) => {
    const limiters = [0, 1, 2].map(() => createRateLimiter({ db: h.ctx.db, clock }));
    const takes = Array.from({ length: limit + 60 }, (_, index) =>
      limiters[index % 3]?.take(`several ${limit}`, 'api', limit),
    );
    const states = await Promise.all(takes);
    const allowed = states.filter((state) => state?.isAllowed).length;
    // A large limit is leased in lots of a thousandth, so one lot per process may be left over, but none is given twice.
    const strandedAtMost = 2 * Math.floor(limit / 1000);
    expect(allowed).toBeLessThanOrEqual(limit);
    expect(allowed).toBeGreaterThanOrEqual(limit - strandedAtMost);
  });

  it('ask the database no more about a limit that is used up, until the hour is over or the limit is larger', async () => {
    const { limiter, asked } = counting();
    for (let call = 0; call < 4; call++) await limiter.take('hammering', 'api', 3);
    const before = asked.length;
    const states = await Promise.all(Array.from({ length: 500 }, () => limiter.take('hammering', 'api', 3)));
    expect(states.every(({ isAllowed, remaining }) => !isAllowed && remaining === 0)).toBe(true);
    expect(asked.length).toBe(before);
    expect((await limiter.take('hammering', 'api', 5)).isAllowed).toBe(true);
    clock.advance(HOUR_MS);
    expect((await limiter.take('hammering', 'api', 3)).isAllowed).toBe(true);
  });

  it('lease with one statement for all calls that wait, of however many accounts, and give back with one', async () => {
    const { limiter, asked } = counting();
    const names = Array.from({ length: 50 }, (_, index) => `waiting ${index}`);
    const take = (name: string) => Promise.all([1, 2, 3].map(() => limiter.take(name, 'invocations', 4)));
    const states = await Promise.all(names.map(take));
    expect(states.flat().every(({ isAllowed }) => isAllowed)).toBe(true);
    expect(asked).toEqual(['lease-calls']);
    await Promise.all(
      names.map((name, index) => limiter.giveBack(name, 'invocations', states[index]?.[0] as LimitState)),
    );
    expect(asked).toEqual(['lease-calls', 'return-calls']);
    const again = (await Promise.all(names.map(take))).map(
      (taken) => taken.filter(({ isAllowed }) => isAllowed).length,
    );
    expect(new Set(again)).toEqual(new Set([2]));
  });

  it('lease from the same windows in whatever order, without a deadlock and within every limit', async () => {
    const limiters = [0, 1, 2, 3].map(() => createRateLimiter({ db: h.ctx.db, clock }));
    const names = Array.from({ length: 40 }, (_, index) => `crossing ${index}`);
    const round = limiters.flatMap((limiter, index) =>
      (index % 2 === 0 ? names : names.toReversed()).map(async (name) => {
        const taken = await Promise.all([1, 2, 3].map(() => limiter.take(name, 'invocations', 10)));
        const back = taken.find(({ isAllowed }) => isAllowed);
        if (back) await limiter.giveBack(name, 'invocations', back);
        return { name, kept: taken.filter((state) => state.isAllowed && state !== back).length };
      }),
    );
    const kept = Map.groupBy(await Promise.all(round), ({ name }) => name);
    for (const of of kept.values()) expect(of.reduce((sum, each) => sum + each.kept, 0)).toBeLessThanOrEqual(10);
    const uses = await Promise.all(names.map((name) => limiters[0]?.look(name, 'invocations', 10)));
    expect(uses.map((use) => use?.used)).toEqual(
      names.map((name) => kept.get(name)?.reduce((sum, each) => sum + each.kept, 0)),
    );
  });

  it('see a call given back by another', async () => {
    const [one, two] = [createRateLimiter({ db: h.ctx.db, clock }), createRateLimiter({ db: h.ctx.db, clock })];
    const [taken] = await Promise.all(Array.from({ length: 10 }, () => one.take('back', 'invocations', 10)));
    expect((await two.take('back', 'invocations', 10)).isAllowed).toBe(false);
    await one.giveBack('back', 'invocations', taken as LimitState);
    expect((await two.take('back', 'invocations', 10)).isAllowed).toBe(true);
    expect((await one.take('back', 'invocations', 10)).isAllowed).toBe(false);
  });

  it('a call given back after its hour adds nothing to the next', async () => {
    const limiter = createRateLimiter({ db: h.ctx.db, clock });
    const taken = await limiter.take('late', 'invocations', 2);
    clock.advance(HOUR_MS);
    const other = createRateLimiter({ db: h.ctx.db, clock });
    await other.take('late', 'invocations', 2);
    await other.take('late', 'invocations', 2);
    await limiter.giveBack('late', 'invocations', taken);
    await limiter.take('late', 'invocations', 2);
    await limiter.giveBack('late', 'invocations', taken);
    expect((await other.take('late', 'invocations', 2)).isAllowed).toBe(false);
  });

  it('a limit that became smaller leaves none remaining, never less than none', async () => {
    const limiter = createRateLimiter({ db: h.ctx.db, clock });
    for (let call = 0; call < 20; call++) await limiter.take('smaller', 'api', 100);
    expect(await limiter.take('smaller', 'api', 10)).toMatchObject({ isAllowed: false, remaining: 0 });
  });
});
