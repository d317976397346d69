import { expect, it } from 'vitest';
import { describeError } from '../protocols/agent-answer.ts';
import { shownMessage } from './run-invocation.ts';

const SECRET = 'sk-0123456789-abcdefghij-0123456789';
const target = { headers: { authorization: `Bearer ${SECRET}` } };

/** What a caller is shown of an endpoint that repeats the credential behind so many characters of the caller's choice. */
const shownBehind = (chars: number, more = '') =>
  shownMessage(
    target,
    `The agent answered 400${describeError({ message: `${'x'.repeat(chars)}Bearer ${SECRET}${more}` })}.`,
  );

it('a message that is cut off shows no part of its owner’s secret, wherever the caller puts it', () => {
  for (let chars = 0; chars < 1100; chars++)
    for (const more of ['', 'y'.repeat(600)])
      expect(shownBehind(chars, more), `behind ${chars}`).not.toContain(SECRET.slice(0, 6));
});

it('a short message is shown whole, and of a long one the beginning', () => {
  expect(shownBehind(0)).toBe('The agent answered 400: ***.');
  const long = shownBehind(2000);
  expect([long.length, long.endsWith('x…')]).toEqual([561, true]);
});
