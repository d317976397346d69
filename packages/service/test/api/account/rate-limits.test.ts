import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LimitState } from '../../../src/access/rate-limit.ts';
import { createRateLimiter } from '../../../src/access/rate-limiter.ts';
import { fixedClock } from '../../../src/lib/clock.ts';
import { type Answer, type Harness, startHarness } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { expectError } from '../support/expect-error.ts';

const HOUR_MS = 3_600_000;
const clock = fixedClock(new Date());
let h: Harness;
let free: TestAgent;
let paid: TestAgent;
beforeAll(async () => {
  h = await startHarness({ clock, env: { ANONYMOUS_REQUESTS_PER_HOUR: '60' } });
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
const account = (key: string) => () => h.request('GET', '/account', { key });
const invoke = (key: string, agent = free, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true', ...headers } });

function expectLimited(answer: Answer, type: 'api' | 'invocations', limit: number): void {
  expectError(answer, 'RATE_LIMITED');
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

  it('is counted by key: another key of the account has its own', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const { body } = await h.request('POST', '/account/keys', { key, body: { name: 'second' } });
    await times(99, account(key));
    expect((await account(key)()).status).toBe(429);
    expect((await account(body.data.apiKey)()).headers.get('x-ratelimit-remaining')).toBe('99');
  });

  it('still has an agent of its account call with a limit of its own', async () => {
    const owner = await h.newAccount({ plan: 'free' });
    const agent = await startTestAgent(h, { owner });
    const answers = await times(12, () => invoke(agent.identityToken));
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([10, 2]);
    await agent.die();
    clock.advance(HOUR_MS);
  });
});

describe('what is no invocation does not count as one', () => {
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
    expect((await invoke(narrow.body.data.apiKey)).headers.get('x-ratelimit-remaining')).toBe('10');
    expect((await invoke(key)).headers.get('x-ratelimit-remaining')).toBe('8');
  });
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

describe('several processes on one database', () => {
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
