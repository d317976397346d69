import { expect, it } from 'vitest';
import type { Caller } from './caller.ts';
import { leaseSize, limitOf, limitSubject } from './rate-limit.ts';

const account = {
  kind: 'account',
  name: 'test',
  session: null,
  accountId: 'acc_1',
  address: '0x',
  keyId: 'k1',
  plan: 'free',
  scopes: [],
  isWalletProven: true,
  node: null,
  limits: { perCallMicro: null, perDayMicro: null, allowedAgents: null },
  budgetId: 'k1',
} as const;
const session = {
  createdAt: new Date(0),
  lastSeenAt: new Date(0),
  expiresAt: new Date(1),
  userAgent: null,
  isLocal: false,
};
const agent = { kind: 'agent', accountId: 'acc_1', agentId: 'agt_1', plan: 'pro' } as const;
const anonymous = { kind: 'anonymous', address: '::1' } as const;

const limits: Parameters<typeof limitOf>[0] = {
  free: { api: 100, invocations: 10 },
  pro: { api: 1000, invocations: 100 },
  enterprise: { api: 9, invocations: 8 },
  anonymous: { api: 7, invocations: 6 },
  node: { api: 5, invocations: 4 },
};

it.each<[Caller, string, number, number]>([
  [account, 'key:k1', 100, 10],
  [{ ...account, node: 'offline' }, 'key:k1', 100, 10],
  [{ ...account, node: 'online' }, 'key:k1', 5, 4],
  [{ ...account, session }, 'sessions:acc_1', 10_000, 10],
  [agent, 'agent:agt_1', 1000, 100],
  [anonymous, 'address:::1', 7, 6],
])('%j is counted as %s with limits of its plan', (caller, subject, api, invocations) => {
  expect(limitSubject(caller)).toBe(subject);
  expect([limitOf(limits, caller, 'api'), limitOf(limits, caller, 'invocations')]).toEqual([api, invocations]);
});

it('limits up to 2,000 are counted one by one, larger ones in lots of a thousandth', () => {
  expect([1, 10, 100, 1000, 1999].map(leaseSize)).toEqual([1, 1, 1, 1, 1]);
  expect([2000, 5000, 1_000_000_000].map(leaseSize)).toEqual([2, 5, 1_000_000]);
});
