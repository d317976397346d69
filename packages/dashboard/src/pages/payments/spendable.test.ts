import { expect, it } from 'vitest';
import { lackOf } from './spendable.ts';

const rich = { treasuryId: 'trs_a', perCall: '0.50', total: '1.00', limitedBy: 'funds', callsLeft: 3 } as const;

it.each([
  ['a price that the treasury can pay', rich, '0.50', null],
  ['a free call without funds', { ...rich, perCall: '0.00' }, '0', null],
  ['a price above the funds', rich, '0.51', 'funds'],
  ['a price above the limit of the key', { ...rich, limitedBy: 'per_call' }, '0.60', 'per_call'],
  [
    'a free call when the plan has none left',
    { ...rich, perCall: '0.00', callsLeft: 0, limitedBy: 'plan' },
    '0',
    'plan',
  ],
  ['a free call of a key that may not call', { ...rich, perCall: '0.00', limitedBy: 'scope' }, '0', 'scope'],
  ['a paid call from a frozen treasury', { ...rich, perCall: '0.00', limitedBy: 'frozen' }, '0.01', 'frozen'],
] as const)('%s', (_, spendable, price, reason) => {
  expect(lackOf(spendable, price)?.reason ?? null).toBe(reason);
});
