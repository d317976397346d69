import { expect, it } from 'vitest';
import { failureText, textOf } from './record.ts';

it.each([
  ['a\u001b]52;c;cm0gLXJm\u0007b\u001b[2J\u001b[1;1Hpaid: 0.00', 'a]52;c;cm0gLXJmb[2J[1;1Hpaid: 0.00'],
  [{ text: 'a\rb\u009b31mc\u202ed\u0000' }, 'ab31mcd'],
  [{ other: '\u009b2J' }, '{\n  "other": "2J"\n}'],
  ['\tone\n\ttwo é 漢 👩‍👩‍👧', '\tone\n\ttwo é 漢 👩‍👩‍👧'],
])('a result reaches the terminal without what it would obey: %j', (result, shown) =>
  expect(textOf(result)).toBe(shown),
);

it.each([
  [
    'failed',
    { code: 'agent_error', message: 'The agent could not be reached.' },
    '0.02',
    'Failed: the agent could not be reached. 0.02 USDC was refunded.',
  ],
  ['failed', { code: 'agent_error', message: 'No luck' }, null, 'Failed: No luck.'],
  ['cancelled', null, '0.02', 'Cancelled. 0.02 USDC was refunded.'],
] as const)('the end of a request in a sentence: %s %j', (status, error, refund, text) =>
  expect(failureText({ status, error, refund } as never)).toBe(text),
);
