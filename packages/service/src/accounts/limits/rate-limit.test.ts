import { expect, it } from 'vitest';
import type { Caller } from '../caller.ts';
import { type CountedClass, leaseSize, limitsOf } from './rate-limit.ts';

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
const agent = { kind: 'agent', accountId: 'acc_1', agentId: 'agt_1', plan: 'pro', node: null } as const;
const anonymous = (address: string) => ({ kind: 'anonymous', address }) as const;

const limits = {
  planLimits: {
    free: { api: 100, invocations: 10 },
    pro: { api: 1000, invocations: 100 },
    enterprise: { api: 9, invocations: 8 },
    anonymous: { api: 7, invocations: 6 },
    node: { api: 5, invocations: 4 },
  },
  signInsPerHour: 3,
};
const read = { method: 'GET', auth: 'key', limit: 'api' } as const;
const write = { ...read, method: 'POST' } as const;
const search = { method: 'POST', auth: 'none', limit: 'api' } as const;
const invoke = { ...write, limit: 'invocations' } as const;
const signIn = { ...search, limit: 'signIns' } as const;

const of = (subject: string, limitClass: CountedClass, limit: number) => ({ subject, limitClass, limit });
const mine = (limitClass: CountedClass, limit: number) => of('account:acc_1', limitClass, limit);

it.each<[string, Caller, typeof read | typeof write | typeof search | typeof invoke | typeof signIn, object[]]>([
  ['a key', account, invoke, [mine('api', 100), mine('invocations', 10)]],
  ['another key of the account', { ...account, keyId: 'k2' }, write, [mine('api', 100)]],
  ['an agent of the account', { ...agent, plan: 'free' }, invoke, [mine('api', 100), mine('invocations', 10)]],
  ['a session that changes something', { ...account, session }, write, [mine('api', 100)]],
  ['a session that invokes', { ...account, session }, invoke, [mine('api', 100), mine('invocations', 10)]],
  ['a session that reads', { ...account, session }, read, [mine('pages', 10_000)]],
  ['a session that searches', { ...account, session }, search, [mine('pages', 10_000)]],
  ['an account of plan pro', agent, read, [mine('api', 1000)]],
  ['a node that is offline', { ...account, node: 'offline' }, read, [mine('api', 100)]],
  ['a node that is online', { ...account, node: 'online' }, invoke, [mine('api', 5), mine('invocations', 4)]],
  ['an agent of a node that is online', { ...agent, node: 'online' }, read, [mine('api', 5)]],
  ['nobody, by IPv4', anonymous('203.0.113.9'), read, [of('address:203.0.113.9', 'api', 7)]],
  [
    'nobody, by IPv4 in the clothes of IPv6',
    anonymous('::ffff:203.0.113.9'),
    read,
    [of('address:203.0.113.9', 'api', 7)],
  ],
  ['nobody, by the /64 of IPv6', anonymous('2001:db8:1:2:3:4:5:6'), read, [of('address:2001:db8:1:2::/64', 'api', 7)]],
  ['a neighbour in that /64', anonymous('2001:db8:1:2:ffff::1'), search, [of('address:2001:db8:1:2::/64', 'api', 7)]],
  ['one in another /64', anonymous('2001:db8:1:3::1'), read, [of('address:2001:db8:1:3::/64', 'api', 7)]],
  ['one on a link', anonymous('fe80::1%eth0'), read, [of('address:fe80::/64', 'api', 7)]],
  ['a call without a socket', anonymous('unknown'), read, [of('address:unknown', 'api', 7)]],
  ['signing in with a key', account, signIn, [mine('api', 100), of('address:2001:db8:9:9::/64', 'signIns', 3)]],
])('%s counts against the limits of its account or network', (_who, caller, row, expected) => {
  expect(limitsOf(limits, caller, row, () => '2001:db8:9:9::1')).toEqual(expected);
});

it('limits up to 2,000 are counted one by one, larger ones in lots of a thousandth', () => {
  expect([1, 10, 100, 1000, 1999].map(leaseSize)).toEqual([1, 1, 1, 1, 1]);
  expect([2000, 5000, 1_000_000_000].map(leaseSize)).toEqual([2, 5, 1_000_000]);
});
