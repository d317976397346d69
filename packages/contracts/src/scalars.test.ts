import { describe, expect, it } from 'vitest';
import { Id, plainText, Timestamp, TransactionHash, Usdc, UsdcInput, WalletAddress } from './scalars.ts';

const takes = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('an amount', () => {
  it.each(['0', '0.05', '1.000000', '999999999999.999999'])('%s is taken', (text) =>
    expect(takes(Usdc, text)).toBe(true),
  );
  it.each([
    '',
    '-1',
    '+1',
    '01',
    '1.',
    '.1',
    '1e3',
    '1.0000000',
    'NaN',
    '0x1',
    '1\n',
    ' 1',
    '1 ',
    '1000000000000',
    '١',
    1,

    null,
  ])('%j is refused', (value) => expect(takes(Usdc, value)).toBe(false));
});

describe('text for people', () => {
  const text = plainText(5);
  it.each(['', 'abcde', 'a\tb\r\n', 'é漢💥', '\u00a0'])('%j is taken', (value) =>
    expect(takes(text, value)).toBe(true),
  );
  it.each([
    'abcdef',
    '\u0000',
    '\u0008',
    '\u000b',
    '\u001b',
    '\u007f',
    '\u202e',
    '\u2066',
    '\ud800',
    '\udc00a',
    5,
    null,
    ['a'],
  ])('%j is refused', (value) => expect(takes(text, value)).toBe(false));
});

describe('a time', () => {
  it.each(['2026-11-21T10:00:00Z', '2026-11-21T10:00:00.123Z', '2026-11-21T13:00:00+03:00', '2024-02-29T00:00:00Z'])(
    '%s is taken',
    (value) => expect(takes(Timestamp, value)).toBe(true),
  );
  it.each([
    '',
    '2026-11-21',
    '2026-11-21T10:00:00',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21 10:00:00Z',
    '9999-12-31T23:59:59-00:01',
    '0000-01-01T00:00:00+00:01',
    0,
    null,
  ])('%j is refused', (value) => expect(takes(Timestamp, value)).toBe(false));
});

describe('an amount in a request', () => {
  it.each([
    [0.05, '0.05'],
    [0, '0'],
    [12, '12'],
    [0.000001, '0.000001'],
    [999999999.123456, '999999999.123456'],
    ['0.05', '0.05'],
  ])('%j is taken as %s', (given, text) => expect(UsdcInput.parse(given)).toBe(text));

  it.each([0.1 + 0.2, 1e-7, 1e21, -1, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e12, '1e3', true, null, [1]])(
    '%j, which is no exact amount, is refused',
    (given) => expect(takes(UsdcInput, given)).toBe(false),
  );

  it('of an inexact number is refused in the words of an amount', () => {
    expect(UsdcInput.safeParse(0.1 + 0.2).error?.issues[0]?.message).toContain('decimal USDC amount');
  });
});

describe('ids, addresses and hashes', () => {
  it.each(['agt_01k0000000000000000000000a', 'x', 'x'.repeat(100)])('%s is an id', (value) =>
    expect(takes(Id, value)).toBe(true),
  );
  it.each(['', ' ', 'a b', 'a\u0000', 'é', 'x'.repeat(101), 5, null])('%j is no id', (value) =>
    expect(takes(Id, value)).toBe(false),
  );
  it('are hex of their length', () => {
    expect(takes(WalletAddress, `0x${'aB'.repeat(20)}`)).toBe(true);
    expect(takes(TransactionHash, `0x${'ab'.repeat(32)}`)).toBe(true);
    for (const value of [
      '0x',
      `0x${'ab'.repeat(19)}`,
      `0X${'ab'.repeat(20)}`,
      `${'ab'.repeat(20)}`,
      `0x${'gg'.repeat(20)}`,
    ]) {
      expect(takes(WalletAddress, value)).toBe(false);
      expect(takes(TransactionHash, value)).toBe(false);
    }
  });
});
