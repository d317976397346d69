import { expect, test } from 'vitest';
import { exhausted, invariant } from './invariant.ts';

test('a condition that holds passes and one that does not throws with its message', () => {
  expect(() => invariant(1, 'one')).not.toThrow();
  expect(() => invariant(0, 'balance is never negative')).toThrow('balance is never negative');
});

test('a value outside of its union throws and is named', () => {
  expect(() => exhausted('sideways' as never)).toThrow('"sideways"');
  expect(() => exhausted(undefined as never)).toThrow('undefined');
});
