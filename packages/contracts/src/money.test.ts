import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUsdc, minMicro, parseUsdc, timesHundredths } from './money.ts';

describe('money', () => {
  it.each([
    ['0', 0n],
    ['0.05', 50_000n],
    ['1', 1_000_000n],
    ['12.345678', 12_345_678n],
    ['999999999999.999999', 999_999_999_999_999_999n],
  ])('%s is %s micro-USDC', (text, micro) => expect(parseUsdc(text)).toBe(micro));

  it.each(['', '-1', '+1', '1e3', '.5', '1.', '01', '1.1234567', '0x10', ' 1', '1 ', '1,5', 'NaN', '1000000000000'])(
    '%j is refused rather than rounded',
    (text) => expect(() => parseUsdc(text)).toThrow(RangeError),
  );

  it.each([
    [0n, '0.00'],
    [50_000n, '0.05'],
    [1n, '0.000001'],
    [1_500_000n, '1.50'],
    [-20n, '-0.00002'],
  ])('%s micro-USDC reads %s', (micro, text) => expect(formatUsdc(micro)).toBe(text));

  it('what is formatted is parsed back unchanged', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (m) => {
        expect(parseUsdc(formatUsdc(m))).toBe(m);
      }),
    );
  });

  it('a factor rounds up, never to free', () => {
    expect(timesHundredths(1n, 80n)).toBe(1n);
    expect(timesHundredths(50_000n, 150n)).toBe(75_000n);
    expect(timesHundredths(0n, 150n)).toBe(0n);
  });

  it('the least of several amounts is chosen', () => expect(minMicro(3n, 2n, 5n)).toBe(2n));
});
