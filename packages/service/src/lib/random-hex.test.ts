import { expect, it } from 'vitest';
import { randomHex } from './random-hex.ts';

it('random hexadecimal text has the asked length, and never comes again across refills of the pool', () => {
  const texts = Array.from({ length: 2000 }, (_, nth) => randomHex(8 + (nth % 3)));
  for (const [nth, text] of texts.entries()) expect(text).toMatch(new RegExp(`^[0-9a-f]{${2 * (8 + (nth % 3))}}$`));
  expect(new Set(texts.map((text) => text.slice(0, 16))).size).toBe(2000);
});
