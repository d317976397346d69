import type { PerUnit, PerUsage, SizeStep } from '@agent-network/contracts/agents/agent-metadata';
import { hintHundredths as hintHundredthsOf } from '@agent-network/contracts/agents/price-text';
import { MAX_MICRO, minMicro, parseUsdc } from '@agent-network/contracts/money';
import { countUnits } from '../../agents/count-units.ts';
import { invariant } from '../../lib/invariant.ts';
import { mostByUsage, type UsageTerms, usageTermsOf } from '../usage/rate-usage.ts';

const complexityHundredths: ReadonlyMap<unknown, bigint> = new Map(Object.entries(hintHundredthsOf));

export interface Price {
  readonly baseMicro: bigint;
  /** Multiplier by hint and size together, in ten-thousandths. */
  readonly multiplier: bigint;
  /** Multiplier by the hint alone, in hundredths: 1.5x is 150. */
  readonly hintHundredths: bigint;
  /** The size of the call, and the step that it reaches; null: the agent has no price by size. */
  readonly size: { readonly bytes: number; readonly aboveBytes: number; readonly hundredths: bigint } | null;
  /** Price of its units; null: the agent has no price by units. */
  readonly units: { readonly count: bigint; readonly amountMicro: bigint } | null;
  /** Terms of its price by usage; null: its cost is the total. */
  readonly usageTerms: UsageTerms | null;
  /** The agreed price, which is held: of a call paid by usage the most that it costs. */
  readonly totalMicro: bigint;
}

/** Factors of a call's price, without its units, as set by the agent's owner. */
export interface Factors {
  /** True when hints of callers change the price. */
  readonly takesHints: boolean;
  /** Larger calls cost more from these sizes on, in ascending order; null: one price for all sizes. */
  readonly sizeSteps: readonly SizeStep[] | null;
}

/** The rate of an agent. */
export interface Rate extends Factors {
  readonly perRequestMicro: bigint;
  readonly perUnit: PerUnit | null;
  readonly perUsage: PerUsage | null;
}

/** The parts of a call that the agent receives, and so all that can raise its price. */
export interface Work {
  readonly task: string;
  readonly input: Record<string, unknown>;
  readonly context?: string | null | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
}

/** The size of all that the agent is sent, in bytes. */
export function bytesOf({ task, input, context, metadata }: Work): number {
  const parts = [task, JSON.stringify(input), context ?? '', hasFields(metadata) ? JSON.stringify(metadata) : ''];
  return parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
}

function sizeOf(steps: readonly SizeStep[], work: Work): NonNullable<Price['size']> {
  const bytes = bytesOf(work);
  const step = steps.findLast(({ aboveBytes }) => bytes > aboveBytes);
  return { bytes, aboveBytes: step?.aboveBytes ?? 0, hundredths: step ? toHundredths(step.multiplier) : 100n };
}

/** "1.25" is 125; the multiplier of a size step has at most two decimals. */
export function toHundredths(multiplier: string): bigint {
  const [whole = '', decimals = ''] = multiplier.split('.');
  return BigInt(whole) * 100n + BigInt(decimals.padEnd(2, '0'));
}

const hasFields = (object: Record<string, unknown> | undefined): boolean => Object.keys(object ?? {}).length > 0;

const hintHundredths = ({ input }: Work): bigint => complexityHundredths.get(input.complexity) ?? 100n;

function factorsOf({ takesHints, sizeSteps }: Factors, work: Work) {
  const hint = takesHints ? hintHundredths(work) : 100n;
  const size = sizeSteps && sizeOf(sizeSteps, work);
  return { hint, size, multiplier: hint * (size?.hundredths ?? 100n) };
}

/** Price multiplier of a call, in ten-thousandths. */
export const multiplierOf = (factors: Factors, work: Work): bigint => factorsOf(factors, work).multiplier;

/** Price class of a call, independent of the agent: an offer for one class is not valid for another. */
export const priceClassOf = (work: Work): string => `${hintHundredths(work)}`;

/** True when calls of the same class differ in price, by their units or their size, or may cost more than was offered, by their usage. */
export const hasPricesWithinClass = ({
  perUnit,
  perUsage,
  sizeSteps,
}: Pick<Rate, 'perUnit' | 'perUsage' | 'sizeSteps'>): boolean =>
  perUnit !== null || perUsage !== null || sizeSteps !== null;

/** The price of a call. Quotes and direct calls use the same rule; a quote locks the result. */
export function priceOf(rate: Rate, work: Work): Price {
  const { perRequestMicro, perUnit } = rate;
  const { hint, size, multiplier } = factorsOf(rate, work);
  const leastMicro = (perRequestMicro * multiplier + 9_999n) / 10_000n;
  const units = perUnit && unitsOf(perUnit, work);
  const usageTerms = usageTermsOf(rate);
  const mostMicro = maxOf(leastMicro, units?.amountMicro ?? 0n, usageTerms ? mostByUsage(usageTerms) : 0n);
  return {
    baseMicro: perRequestMicro,
    multiplier,
    hintHundredths: hint,
    size,
    units,
    usageTerms,
    totalMicro: minMicro(mostMicro, MAX_MICRO),
  };
}

const maxOf = (...amounts: readonly bigint[]): bigint =>
  amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);

/** Units of a call, with their price. The validation of the input has made sure that they can be counted. */
function unitsOf(perUnit: PerUnit, { input }: Work): NonNullable<Price['units']> {
  const count = countUnits(perUnit, input);
  invariant(count !== null, 'a call is priced whose units can be counted');
  return { count, amountMicro: minMicro(count * parseUsdc(perUnit.price), parseUsdc(perUnit.maximum)) };
}

/**
 * The highest rate at which some agent's price for this call stays within the maximum; each agent decides whether it takes hints. Units and
 * sizes only raise a price.
 */
export const rateWithin = (maxMicro: bigint, work: Work): bigint =>
  (maxMicro * 100n) / (hintHundredths(work) < 100n ? hintHundredths(work) : 100n);

/** The lowest rate at which the price for this call reaches the minimum without units and size, at an agent that takes hints if they raise it. */
export const rateReaching = (leastMicro: bigint, work: Work): bigint =>
  (leastMicro * 100n) / (hintHundredths(work) > 100n ? hintHundredths(work) : 100n);

interface Times {
  /** Average time of its completed calls; null: there are none. */
  readonly averageMs: number | null;
  /** Response time that its owner declares; null: none. */
  readonly declaredTime: string | null;
}

/** A range of seconds around the agent's average; before its first completed call the time that its owner declares, or a default. */
export function estimatedTime({ averageMs, declaredTime }: Times): string {
  if (averageMs === null) return declaredTime ?? '1-30s';
  const low = Math.max(1, Math.floor(averageMs / 2000));
  return `${low}-${Math.max(low + 1, Math.ceil((averageMs * 2) / 1000))}s`;
}
