import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { isKnown } from './common-headers.ts';
import { acceptsEncoding, createCompressor } from './encodings.ts';

it.each([
  ['gzip', true],
  ['br, GZIP;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip; q=0.000, br', false],
  ['gzip;q=0.001', true],
  ['x-gzip', false],
  ['', false],
  [undefined, false],
])('%j takes gzip: %s', (header, isTaken) => expect(acceptsEncoding(header, 'gzip')).toBe(isTaken));

it.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"x", W/"a" ,"y"', true],
  ['*', true],
  ['"ab"', false],
  ['a', false],
  ['', false],
  [undefined, false],
])('%j has the tag a: %s', (header, isThere) => expect(isKnown(header, '"a"')).toBe(isThere));

it('an answer is compressed once for all that ask for it; two at a time, others are not waited for', async () => {
  const { compressed } = createCompressor();
  const bytes = Buffer.from('agents '.repeat(10_000));
  const [br, same, gzip, third] = await Promise.all([
    compressed('a', 'br', bytes),
    compressed('a', 'br', bytes),
    compressed('a', 'gzip', bytes),
    compressed('b', 'gzip', bytes),
  ]);
  expect(same).toBe(br);
  expect(third).toBe(null);
  expect(br && brotliDecompressSync(br).equals(bytes)).toBe(true);
  expect(gzip && gunzipSync(gzip).equals(bytes)).toBe(true);
  expect(await compressed('a', 'br', bytes)).toBe(br);
  expect(await compressed('b', 'gzip', bytes)).not.toBe(null);
});
