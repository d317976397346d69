import { expect, it } from 'vitest';
import { knownChannel, planOf, usualDeposit } from './channel-plan.ts';

const channel = { balance: '0.50', charged: '0.47' };

it.each<[string, Parameters<typeof planOf>, ReturnType<typeof planOf>]>([
  ['no channel: all is deposited', ['0.05', '0.50', null], { left: '0.00', needsDeposit: true, problem: undefined }],
  ['enough left: nothing is', ['0.03', 'x', channel], { left: '0.03', needsDeposit: false, problem: undefined }],
  ['too little left', ['0.05', '0.02', channel], { left: '0.03', needsDeposit: true, problem: undefined }],
  [
    'a deposit below what is missing',
    ['0.05', '0.019', channel],
    { left: '0.03', needsDeposit: true, problem: 'must be at least 0.02 USDC' },
  ],
  [
    'no amount',
    ['0.05', '-1', null],
    { left: '0.00', needsDeposit: true, problem: 'must be an amount of USDC with at most 6 decimals' },
  ],
])('plans a call by channel: %s', (_what, given, plan) => expect(planOf(...given)).toEqual(plan));

it('deposits ten calls as a rule', () => expect(usualDeposit('0.05')).toBe('0.50'));

it('signs nothing while the balance of the channel is unknown', () => {
  expect(() => knownChannel(undefined)).toThrow('Nothing was signed.');
  expect(knownChannel(null)).toBeNull();
  expect(knownChannel(channel)).toBe(channel);
});
