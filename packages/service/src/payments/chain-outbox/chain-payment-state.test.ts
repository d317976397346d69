import { expect, it } from 'vitest';
import {
  type ChainPaymentEvent,
  type ChainPaymentState,
  chainPaymentTransitions,
  isOpen,
  paymentStatesThatTake,
} from './chain-payment-state.ts';

const states = Object.keys(chainPaymentTransitions) as ChainPaymentState[];
const events = Object.keys(chainPaymentTransitions.claimed) as ChainPaymentEvent[];
const moves = states.flatMap((from) =>
  events.flatMap((event) => {
    const to = chainPaymentTransitions[from][event];
    return to === 'ignored' || to === 'illegal' ? [] : [{ from, event, to }];
  }),
);

it('a payment moves along these ways and no others', () => {
  expect(new Set(moves.map(({ from, to }) => `${from} > ${to}`))).toEqual(
    new Set([
      'claimed > broadcasting',
      'claimed > settled',
      'claimed > failed',
      'broadcasting > broadcasting',
      'broadcasting > settled',
      'broadcasting > failed',
      'settled > reversed',
      'failed > settled',
    ]),
  );
});

it.each<[ChainPaymentEvent, ChainPaymentState[]]>([
  ['broadcast', ['claimed', 'broadcasting']],
  ['settle', ['claimed', 'broadcasting']],
  ['bookLate', ['claimed', 'broadcasting', 'failed']],
  ['fail', ['claimed', 'broadcasting']],
  ['reverse', ['settled']],
])('%s has an effect in %j only', (event, expected) => expect(paymentStatesThatTake(event)).toEqual(expected));

it('nothing becomes claimed, and nothing leaves reversed', () => {
  expect(moves.filter(({ from, to }) => to === 'claimed' || from === 'reversed')).toEqual([]);
});

it('open states are those without an end', () => {
  const open: ChainPaymentState[] = ['claimed', 'broadcasting'];
  expect(states.filter(isOpen)).toEqual(open);
});
