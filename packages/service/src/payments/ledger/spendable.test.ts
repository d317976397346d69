import { expect, it } from 'vitest';
import { type Bounds, spendableOf } from './spendable.ts';

const rich: Bounds = {
  ...{ mayInvoke: true, isFrozen: false, callsLeft: 5 },
  ...{ availableMicro: 100n, dayLeftMicro: null, perCallMicro: null },
};

it.each<[string, Partial<Bounds>, bigint, bigint, string]>([
  ['its treasury', {}, 100n, 100n, 'funds'],
  ['an empty treasury', { availableMicro: 0n }, 0n, 0n, 'funds'],
  ['a treasury that owes', { availableMicro: -5n }, 0n, 0n, 'funds'],
  ['the limit of a call', { perCallMicro: 30n }, 30n, 100n, 'per_call'],
  ['the rest of the day', { dayLeftMicro: 40n }, 40n, 40n, 'per_day'],
  ['a day that is overspent', { dayLeftMicro: -1n }, 0n, 0n, 'per_day'],
  ['the smallest of all', { dayLeftMicro: 40n, perCallMicro: 50n, availableMicro: 20n }, 20n, 20n, 'funds'],
  ['a limit of a call within the day', { dayLeftMicro: 40n, perCallMicro: 10n }, 10n, 40n, 'per_call'],
  ['its plan', { callsLeft: 0 }, 0n, 0n, 'plan'],
  ['a frozen treasury', { isFrozen: true }, 0n, 0n, 'frozen'],
  ['its scopes', { mayInvoke: false, isFrozen: true }, 0n, 0n, 'scope'],
])('the spendable amount of a caller is bounded by %s', (_, change, callMicro, allMicro, limitedBy) => {
  expect(spendableOf({ ...rich, ...change })).toEqual({ callMicro, allMicro, limitedBy });
});
