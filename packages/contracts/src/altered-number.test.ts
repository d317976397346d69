import { describe, expect, it } from 'vitest';
import { alteredNumber } from './altered-number.ts';

describe('a number that would not stay as it was written', () => {
  it.each([
    '1e309',
    '-1e400',
    '1.5E+999',
    '1e-400',
    '12345678901234567890',
    '-9007199254740993',
    '1152921504606846976',
    `${'9'.repeat(400)}`,
  ])('is found: %s', (number) => {
    expect(alteredNumber(number)).toEqual({ number, path: '' });
    const text = `{"x":[1,[2],{"y":3}],"a":"1e400, :","b\\"1e400" : [0,"z",{"c":${number},"d":${number}}]}`;
    expect(alteredNumber(text)).toEqual({ number, path: 'b"1e400.2.c' });
    expect(alteredNumber(`[0, ${number} ]`)).toEqual({ number, path: '1' });
  });
});

describe('a number that stays', () => {
  it.each([
    '9007199254740991',
    '-9007199254740991',
    '9007199254740992',
    '18446744073709552000',
    '1.7976931348623157e308',
    '5e-324',
    '0e999',
    '1e21',
    '0.1234567890123456789',
    '1234567890123456.5',
    '-0',
  ])('is not found: %s', (number) => {
    expect(alteredNumber(`{"a":[${number}],"b":${number}}`)).toBeNull();
  });

  it.each([
    '"12345678901234567890"',
    '"\\\\\\"1e400"',
    '{"12345678901234567890":"1e999"}',
    `"${'\\\\'.repeat(1000)} 1e400"`,
  ])('inside a string: %s', (text) => {
    expect(alteredNumber(text)).toBeNull();
  });
});

it('looks at each character once, also of a MiB of digits, quotes or escapes', () => {
  const bytes = 1024 * 1024;
  const texts = ['1e5,', '"\\"",', '"1e5",', '1234567890123456,'].map(
    (part) => `[${part.repeat(bytes / part.length)}0]`,
  );
  const long = '1'.repeat(bytes);
  for (const text of [...texts, `"${long}1e5"`, `0.${long}`, `"${'\\u0001'.repeat(bytes / 6)}1e5"`])
    expect(alteredNumber(text)).toBeNull();
  for (const number of [long, `${long}.5`, `${long}e5`])
    expect(alteredNumber(`[${number}]`)).toEqual({ number, path: '0' });
});
