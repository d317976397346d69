import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { judge } from '../../src/events/webhooks/attempt.ts';
import { nextHealth } from '../../src/events/webhooks/endpoint-health.ts';
import { nextAttemptAt, retryAfter } from '../../src/events/webhooks/retry-schedule.ts';
import { newWebhookSecret, signedHeaders } from '../../src/events/webhooks/sign-delivery.ts';

const now = new Date('2026-11-21T10:00:00.000Z');
const minutesLater = (at: Date | null) => (at === null ? null : (at.getTime() - now.getTime()) / 60_000);

test('the attempts after the first come 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h later, and then no more', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => minutesLater(nextAttemptAt(index + 1, now, 0, null)));
  expect(pauses).toEqual([5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440, null]);
});

test('jitter makes a pause longer by less than a tenth, never shorter', () => {
  expect(minutesLater(nextAttemptAt(2, now, 0.999, null))).toBeGreaterThan(5.4);
  expect(minutesLater(nextAttemptAt(2, now, 0.999, null))).toBeLessThan(5.5);
});

test('Retry-After in seconds or as a date puts an attempt off, by a day at most, and never brings it forward', () => {
  expect(minutesLater(retryAfter('120', now))).toBe(2);
  expect(minutesLater(retryAfter('Sat, 21 Nov 2026 10:03:00 GMT', now))).toBe(3);
  expect(minutesLater(retryAfter('9999999', now))).toBe(1440);
  for (const useless of ['', 'soon', '-5', '0', 'Sat, 21 Nov 2020 10:03:00 GMT', null])
    expect(retryAfter(useless, now)).toBeNull();
  expect(minutesLater(nextAttemptAt(1, now, 0, retryAfter('120', now)))).toBe(2);
  expect(minutesLater(nextAttemptAt(3, now, 0, retryAfter('120', now)))).toBe(30);
});

test.each([
  [200, 'delivered'],
  [299, 'delivered'],
  [400, 'pending'],
  [404, 'pending'],
  [410, 'failed'],
  [429, 'pending'],
  [500, 'pending'],
  [null, 'pending'],
] as const)('an answer of %s leaves a delivery %s', (status, state) => {
  const answer = { status, error: null, response: null, retryAfter: '60', durationMs: 1 };
  const verdict = judge(answer, 1, now, 0);
  expect(verdict).toMatchObject({ state, isGone: status === 410 });
  expect(verdict.pauseUntil !== null).toBe(status === 429);
  expect(judge(answer, 10, now, 0).state).toBe(state === 'delivered' ? 'delivered' : 'failed');
});

test('an endpoint is disabled when it has failed for five days, not a moment before, and not when it answers', () => {
  const failed = { isAnswering: false, isGone: false, pauseUntil: null };
  const fresh = { status: 'enabled', disabledReason: null, failingSince: null, pausedUntil: null } as const;
  const since = (days: number) => ({ ...fresh, failingSince: new Date(now.getTime() - days * 86_400_000) });
  expect(nextHealth(fresh, failed, now)).toEqual({ ...fresh, failingSince: now });
  expect(nextHealth(since(4.999), failed, now).status).toBe('enabled');
  expect(nextHealth(since(5), failed, now).status).toBe('disabled');
  expect(nextHealth(since(9), { ...failed, isAnswering: true }, now)).toEqual(fresh);
  const disabled = { ...fresh, status: 'disabled' } as const;
  expect(nextHealth(disabled, { ...failed, isGone: true }, now)).toEqual(disabled);
});

test('our signatures verify with the reference library, under each of the secrets', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const body = JSON.stringify({ type: 'agent.online', text: 'ünï€😀' });
  const headers = signedHeaders({ id: 'evt_1', timestampS: Math.floor(Date.now() / 1000), body }, secrets);
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
});
