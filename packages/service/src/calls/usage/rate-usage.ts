import type { CallUsage, PerUsage } from '@agent-network/contracts/invocations/usage';
import { formatUsdc, minMicro, parseUsdc } from '@agent-network/contracts/money';

/** Units of a call. */
export type UsageUnits = CallUsage['units'];

/** The usage of a call that an agent or its upstream states. */
export interface UsageClaim {
  readonly units: UsageUnits;
  /** Tokens of the output that were reasoning: a unit of their own where they have a price of their own. */
  readonly reasoningTokens: number;
  readonly model: string | null;
  readonly source: 'agent' | 'upstream';
}

/** Terms of a call that is paid by usage, as accepted; amounts as on the wire. */
export interface UsageTerms extends PerUsage {
  /** The least that the call costs. */
  readonly least: string;
}

export const usageTermsOf = ({
  perRequestMicro,
  perUsage,
}: {
  readonly perRequestMicro: bigint;
  readonly perUsage: PerUsage | null;
}): UsageTerms | null => perUsage && { ...perUsage, least: formatUsdc(perRequestMicro) };

/** The most that a call costs by these terms: what is held for it. */
export const mostByUsage = ({ least, maximum }: UsageTerms): bigint => {
  const [leastMicro, maximumMicro] = [parseUsdc(least), parseUsdc(maximum)];
  return leastMicro > maximumMicro ? leastMicro : maximumMicro;
};

const PRICE_DECIMALS = 12;
const QUANTITY_DECIMALS = 6;
/** From the product of a price and a quantity to micro-USDC. */
const PER_MICRO = 10n ** BigInt(PRICE_DECIMALS + QUANTITY_DECIMALS - 6);

/** A decimal as an integer of its last decimal. */
function scaled(decimal: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** True if a price of one unit is higher than another. */
export const isHigher = (price: string, other: string): boolean =>
  scaled(price, PRICE_DECIMALS) > scaled(other, PRICE_DECIMALS);

/** The sum of units by these prices: each product exact, the sum rounded down. A unit without a price costs nothing. */
export function ratedMicro(prices: PerUsage['prices'], units: UsageUnits): bigint {
  const priceOf = new Map(prices.map(({ unit, price }) => [unit, scaled(price, PRICE_DECIMALS)]));
  return (
    units.reduce(
      (sum, { unit, quantity }) => sum + (priceOf.get(unit) ?? 0n) * scaled(quantity, QUANTITY_DECIMALS),
      0n,
    ) / PER_MICRO
  );
}

/** The cost of a call by its usage: at least the price per request, at most the maximum. */
export function costByUsage(terms: UsageTerms, units: UsageUnits): bigint {
  const rated = ratedMicro(terms.prices, units);
  const leastMicro = parseUsdc(terms.least);
  return minMicro(rated > leastMicro ? rated : leastMicro, mostByUsage(terms));
}

/** Measurements of the node. */
export interface Measured {
  readonly durationMs: number;
  readonly inputBytes: number;
  readonly resultBytes: number;
}

/** "5.321": milliseconds as seconds. */
const secondsOf = (durationMs: number): string => {
  const fraction = String(durationMs % 1000)
    .padStart(3, '0')
    .replace(/0+$/, '');
  return `${Math.floor(durationMs / 1000)}${fraction === '' ? '' : `.${fraction}`}`;
};

/** Units that the node measures itself where they have a price and nothing else states them. */
const measures: Readonly<Record<string, (measured: Measured) => string>> = {
  second: ({ durationMs }) => secondsOf(durationMs),
  request: () => '1',
};

/** The usage of a completed call; null: unknown. */
export function usageOfCall(terms: UsageTerms | null, claim: UsageClaim | null, measured: Measured): CallUsage | null {
  const claimed = claim ? claimedUnits(terms, claim) : [];
  const isOpen = (unit: string) => !claimed.some((each) => each.unit === unit);
  const own = (terms?.prices ?? []).flatMap(({ unit }) => {
    const measure = measures[unit];
    return measure && isOpen(unit) ? [{ unit, quantity: measure(measured) }] : [];
  });
  if (claim === null && own.length === 0) return null;
  return asUsage(terms, measured, {
    units: [...claimed, ...own],
    model: claim?.model ?? null,
    source: claim?.source ?? 'node',
  });
}

/** Units as claimed, with the reasoning apart from the output where it has a price of its own. */
function claimedUnits(terms: UsageTerms | null, { units, reasoningTokens }: UsageClaim): UsageUnits {
  const isApart = reasoningTokens > 0 && terms?.prices.some(({ unit }) => unit === 'reasoning_token');
  if (!isApart) return units;
  return [
    ...units.map(({ unit, quantity }) => ({
      unit,
      quantity: unit === 'output_token' ? String(Math.max(0, Number(quantity) - reasoningTokens)) : quantity,
    })),
    { unit: 'reasoning_token', quantity: String(reasoningTokens) },
  ];
}

/** Bytes of shown text that count as one token: tokens of few texts are longer, so that the count is rather too low. */
const BYTES_PER_SHOWN_TOKEN = 4;

/** The usage of a call that ended early: the node's own measure of the output that its caller was shown. */
export function usageOfShown(terms: UsageTerms, shownBytes: number, measured: Measured): CallUsage {
  const shown: Readonly<Record<string, string>> = {
    output_token: String(Math.floor(shownBytes / BYTES_PER_SHOWN_TOKEN)),
    input_token: String(Math.floor(measured.inputBytes / BYTES_PER_SHOWN_TOKEN)),
    character: String(shownBytes),
    second: secondsOf(measured.durationMs),
    request: '1',
  };
  const units = terms.prices.flatMap(({ unit }) => {
    const quantity = shown[unit];
    return quantity === undefined ? [] : [{ unit, quantity }];
  });
  return asUsage(terms, measured, { units, model: null, source: 'node' });
}

const asUsage = (
  terms: UsageTerms | null,
  { durationMs, inputBytes, resultBytes }: Measured,
  { units, model, source }: Pick<CallUsage, 'units' | 'source'> & { readonly model: string | null },
): CallUsage => ({
  units,
  ...(model === null ? {} : { model }),
  durationMs,
  measured: { inputBytes, resultBytes },
  source,
  ...(terms === null ? {} : { rated: formatUsdc(ratedMicro(terms.prices, units)) }),
});
