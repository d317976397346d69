import { expect, it } from 'vitest';
import { textOf } from './record.ts';

it.each([
  ['a\u001b]52;c;cm0gLXJm\u0007b\u001b[2J\u001b[1;1Hpaid: 0.00', 'a]52;c;cm0gLXJmb[2J[1;1Hpaid: 0.00'],
  [{ text: 'a\rb\u009b31mc\u202ed\u0000' }, 'ab31mcd'],
  [{ other: '\u009b2J' }, '{\n  "other": "2J"\n}'],
  ['\tone\n\ttwo é 漢 👩‍👩‍👧', '\tone\n\ttwo é 漢 👩‍👩‍👧'],
])('a result reaches the terminal without what it would obey: %j', (result, shown) =>
  expect(textOf(result)).toBe(shown),
);
