import { formatUsdc, MAX_MICRO, minMicro, parseUsdc, timesHundredths } from '../money.ts';

/** Effect of the hint `input.complexity`, in hundredths, at agents that take hints (`metadata.priceHints`). */
export const hintHundredths = { low: 80n, medium: 100n, high: 150n } as const;

/** An agent's prices, as it shows them. */
export interface ShownPrices {
  readonly perRequest: string;
  readonly metadata: {
    readonly priceHints?: boolean | undefined;
    readonly sizeSteps?: readonly { readonly aboveBytes: number; readonly multiplier: string }[] | undefined;
    readonly perUnit?:
      | { readonly price: string; readonly unit: string; readonly count: string; readonly maximum: string }
      | undefined;
    readonly perUsage?:
      | { readonly prices: readonly { readonly unit: string; readonly price: string }[]; readonly maximum: string }
      | undefined;
  };
}

/** Minimum and maximum price of a call. */
export function priceRange({ perRequest, metadata }: ShownPrices): { min: string; max: string } {
  const { priceHints, sizeSteps, perUnit, perUsage } = metadata;
  const base = parseUsdc(perRequest);
  const size = BigInt(Math.round(Number(sizeSteps?.at(-1)?.multiplier ?? 1) * 100));
  const most = (base * (priceHints ? hintHundredths.high : 100n) * size + 9_999n) / 10_000n;
  const [units, used] = [perUnit, perUsage].map((part) => parseUsdc(part?.maximum ?? '0')) as [bigint, bigint];
  const parts = units > used ? units : used;
  return {
    min: formatUsdc(priceHints ? timesHundredths(base, hintHundredths.low) : base),
    max: formatUsdc(minMicro(parts > most ? parts : most, MAX_MICRO)),
  };
}

/** The parts of a price besides the price per request, for people; empty: none. */
export function priceParts({ priceHints, sizeSteps = [], perUnit, perUsage }: ShownPrices['metadata']): string[] {
  return [
    ...(priceHints ? ['× 0.8 with complexity low, × 1.5 with complexity high'] : []),
    ...sizeSteps.map(
      ({ aboveBytes, multiplier }) => `× ${multiplier} above ${aboveBytes.toLocaleString('en-US')} bytes`,
    ),
    ...(perUnit ? [`at least ${perUnit.price} USDC for each ${perUnit.unit}, up to ${perUnit.maximum} USDC`] : []),
    ...(perUsage
      ? [
          `at least ${perUsage.prices.map(({ unit, price }) => `${price} USDC for each ${unitText(unit)}`).join(' and ')}, up to ${perUsage.maximum} USDC; what is used is known afterwards, and the rest is given back`,
        ]
      : []),
  ];
}

/** "output token": a unit of usage, for people. */
export const unitText = (unit: string): string => unit.replace(/^x-/, '').replaceAll('_', ' ');

/** "0.05 USDC (× 1.25 above 16,384 bytes)": the price, with the parts that change it. */
export function priceText({ perRequest, metadata }: ShownPrices): string {
  const parts = priceParts(metadata);
  return `${perRequest} USDC${parts.length === 0 ? '' : ` (${parts.join('; ')})`}`;
}
