/** Micro-USDC: one millionth of a USDC, the token's smallest unit. All arithmetic on money uses it. */
export type Micro = bigint;

/** Decimal USDC as on the wire: no sign, no exponent, at most six decimals, below 10^12. */
export const usdcPattern = /^(0|[1-9]\d{0,11})(\.\d{1,6})?$/;

/** The largest amount on the wire: 999999999999.999999. */
export const MAX_MICRO: Micro = 10n ** 18n - 1n;

/** Parses a wire amount to micro-USDC. Throws `RangeError` on anything that `usdcPattern` refuses; never rounds. */
export function parseUsdc(text: string): Micro {
  if (typeof text !== 'string') throw new RangeError(`not a USDC amount, which is a string such as "0.05": ${text}`);
  if (!usdcPattern.test(text)) throw new RangeError(`not a USDC amount: ${text.slice(0, 40)}`);
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

/** Formats micro-USDC as decimal USDC with at least two and at most six decimals: 50_000n is "0.05". */
export function formatUsdc(amountMicro: Micro): string {
  if (amountMicro < 0n) return `-${formatUsdc(-amountMicro)}`;
  const fraction = (amountMicro % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '').padEnd(2, '0');
  return `${amountMicro / 1_000_000n}.${fraction}`;
}

/** `amountMicro` times a factor given in hundredths, rounded up to the next micro-USDC: a price never rounds to free. */
export function timesHundredths(amountMicro: Micro, hundredths: bigint): Micro {
  return (amountMicro * hundredths + 99n) / 100n;
}

export function minMicro(first: Micro, ...rest: readonly Micro[]): Micro {
  let least = first;
  for (const amount of rest) if (amount < least) least = amount;
  return least;
}
