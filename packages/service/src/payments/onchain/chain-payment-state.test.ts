import { expect, it } from 'vitest';
import { type ChainPaymentState, canMove, chainPaymentStates, isOpen, statesBefore } from './chain-payment-state.ts';

const pairs = chainPaymentStates.flatMap((from) => chainPaymentStates.map((to) => [from, to] as const));

it('a payment moves along these ways and no others', () => {
  expect(pairs.filter(([from, to]) => canMove(from, to)).map((pair) => pair.join(' > '))).toEqual([
    'claimed > broadcasting',
    'claimed > settled',
    'claimed > failed',
    'broadcasting > broadcasting',
    'broadcasting > settled',
    'broadcasting > failed',
    'settled > reversed',
    'failed > settled',
  ]);
});

it('the states before a state are the table read backwards', () => {
  for (const [from, to] of pairs) expect(statesBefore(to).includes(from)).toBe(canMove(from, to));
});

it('nothing becomes claimed, and nothing leaves reversed', () => {
  expect(statesBefore('claimed')).toEqual([]);
  expect(chainPaymentStates.filter((to) => canMove('reversed', to))).toEqual([]);
});

it('open are those that nobody has brought to an end', () => {
  const open: ChainPaymentState[] = ['claimed', 'broadcasting'];
  expect(chainPaymentStates.filter(isOpen)).toEqual(open);
});
