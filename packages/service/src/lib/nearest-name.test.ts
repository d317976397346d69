import { expect, it } from 'vitest';
import { nearestName } from './nearest-name.ts';

const known = ['maxCost', 'metadata', 'SETTLEMENT_PRIVATE_KEY', 'PORT', 'id'];

it.each([
  ['maxcost', 'maxCost'],
  ['max_cost', 'maxCost'],
  ['maxCots', 'maxCost'],
  ['metdata', 'metadata'],
  ['SETTLMENT_PRIVATE_KEY', 'SETTLEMENT_PRIVATE_KEY'],
  ['SETTLEMENT_PRIVAT_KYE', null],
  ['PROT', null],
  ['it', null],
  ['', null],
  ['x'.repeat(10_000), null],
])('%s is most like %s', (name, nearest) => {
  expect(nearestName(name, known)).toBe(nearest);
});
