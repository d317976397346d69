import { expect, it } from 'vitest';
import { excerptOf } from './error-text.ts';

it.each([
  ['a text on one line', '<h1>Bad\r\n\tgateway</h1>', '<h1>Bad gateway</h1>'],
  ['controls, escapes and hidden characters as spaces', 'a\u001b[31mb\u0000c\u202ed\u200be', 'a [31mb c d e'],
  ['bytes that are no text', Buffer.from([0x66, 0xff, 0xfe, 0x67]).toString('utf8'), 'f g'],
  ['nothing', ' \n ', ''],
])('shows %s', (_, text, shown) => {
  expect(excerptOf(text)).toBe(shown);
});

it('ends after 200 characters, between two of them', () => {
  expect(excerptOf('🦊'.repeat(300))).toBe(`${'🦊'.repeat(200)}…`);
});
