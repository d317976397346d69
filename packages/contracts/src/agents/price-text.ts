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
  };
}

/** Minimum and maximum price of a call. */
export function priceRange({ perRequest, metadata }: ShownPrices): { min: string; max: string } {
  const { priceHints, sizeSteps, perUnit } = metadata;
  const base = parseUsdc(perRequest);
  const size = BigInt(Math.round(Number(sizeSteps?.at(-1)?.multiplier ?? 1) * 100));
  const most = (base * (priceHints ? hintHundredths.high : 100n) * size + 9_999n) / 10_000n;
  const units = perUnit ? parseUsdc(perUnit.maximum) : 0n;
  return {
    min: formatUsdc(priceHints ? timesHundredths(base, hintHundredths.low) : base),
    max: formatUsdc(minMicro(units > most ? units : most, MAX_MICRO)),
  };
}

/** The parts of a price besides the price per request, for people; empty: none. */
export function priceParts({ priceHints, sizeSteps = [], perUnit }: ShownPrices['metadata']): string[] {
  return [
    ...(priceHints ? ['× 0.8 with complexity low, × 1.5 with complexity high'] : []),
    ...sizeSteps.map(
      ({ aboveBytes, multiplier }) => `× ${multiplier} above ${aboveBytes.toLocaleString('en-US')} bytes`,
    ),
    ...(perUnit ? [`at least ${perUnit.price} USDC for each ${perUnit.unit}, up to ${perUnit.maximum} USDC`] : []),
  ];
}

/** "0.05 USDC (× 1.25 above 16,384 bytes)": the price, with the parts that change it. */
export function priceText({ perRequest, metadata }: ShownPrices): string {
  const parts = priceParts(metadata);
  return `${perRequest} USDC${parts.length === 0 ? '' : ` (${parts.join('; ')})`}`;
}
