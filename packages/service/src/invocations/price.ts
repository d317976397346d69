import { minMicro, parseUsdc, timesHundredths } from '@agent-network/contracts/money';
import type { PerUnit } from '../agents/agent.ts';

/** Effect of the hint `input.complexity` on the price of agents that take hints, in hundredths (docs/decisions/0005-price.md). */
const complexityHundredths: ReadonlyMap<unknown, bigint> = new Map([
  ['low', 80n],
  ['medium', 100n],
  ['high', 150n],
]);

/** Inputs above these sizes cost more. */
const sizeSteps = [
  { aboveBytes: 262_144, hundredths: 200n },
  { aboveBytes: 65_536, hundredths: 150n },
  { aboveBytes: 16_384, hundredths: 125n },
] as const;

export interface Price {
  readonly baseMicro: bigint;
  /** 1.5x is 150. */
  readonly multiplierHundredths: bigint;
  /** What its units cost; null: the agent has no price by units. */
  readonly units: { readonly count: bigint; readonly amountMicro: bigint } | null;
  readonly totalMicro: bigint;
}

/** The rate of an agent. */
export interface Rate {
  readonly perRequestMicro: bigint;
  /** True when hints of callers change the price; set by the agent's owner. */
  readonly takesHints: boolean;
  readonly perUnit: PerUnit | null;
}

/** The parts of a call that the agent receives, and so all that can raise its price. */
export interface Work {
  readonly task: string;
  readonly input: Record<string, unknown>;
  readonly context?: string | null | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
}

function sizeHundredths({ task, input, context, metadata }: Work): bigint {
  const parts = [task, JSON.stringify(input), context ?? '', hasFields(metadata) ? JSON.stringify(metadata) : ''];
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  return sizeSteps.find(({ aboveBytes }) => bytes > aboveBytes)?.hundredths ?? 100n;
}

const hasFields = (object: Record<string, unknown> | undefined): boolean => Object.keys(object ?? {}).length > 0;

const hintHundredths = ({ input }: Work): bigint => complexityHundredths.get(input.complexity) ?? 100n;

/** Price multiplier of a call, in hundredths. */
export const multiplierOf = (takesHints: boolean, work: Work): bigint =>
  ((takesHints ? hintHundredths(work) : 100n) * sizeHundredths(work)) / 100n;

/** Price class of a call, independent of the agent: an offer for one class is not valid for another. */
export const priceClassOf = (work: Work): string => `${sizeHundredths(work)} ${hintHundredths(work)}`;

/** The price of a call. Quotes and direct calls use the same rule; a quote locks the result. */
export function priceOf({ perRequestMicro, takesHints, perUnit }: Rate, work: Work): Price {
  const multiplierHundredths = multiplierOf(takesHints, work);
  const leastMicro = timesHundredths(perRequestMicro, multiplierHundredths);
  const units = perUnit && unitsOf(perUnit, work);
  return {
    baseMicro: perRequestMicro,
    multiplierHundredths,
    units,
    totalMicro: units && units.amountMicro > leastMicro ? units.amountMicro : leastMicro,
  };
}

function unitsOf({ price, count: pointer, maximum }: PerUnit, work: Work): NonNullable<Price['units']> {
  const count = countUnits(pointer, work);
  return { count, amountMicro: minMicro(count * parseUsdc(price), parseUsdc(maximum)) };
}

/** Units beyond this are as many: the maximum bounds what they cost. */
const MOST_UNITS = 1_000_000_000_000;

/** The number of units that a call asks for: what the pointer leads to in its input. */
export function countUnits(pointer: string, { input }: Pick<Work, 'input'>): bigint {
  let value: unknown = input;
  for (const name of pointer.split('/').slice(1)) {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return 0n;
    if (Array.isArray(value) && key === 'length') return 0n;
    value = (value as Record<string, unknown>)[key];
  }
  if (typeof value === 'number') return BigInt(Math.ceil(Math.min(Math.max(value, 0), MOST_UNITS)));
  if (typeof value === 'string') return BigInt(Array.from(value).length);
  return Array.isArray(value) ? BigInt(value.length) : 0n;
}

/** The highest rate at which some agent's price for this call stays within the maximum; each agent decides whether it takes hints. */
export const rateWithin = (mostMicro: bigint, work: Work): bigint =>
  (mostMicro * 100n) / multiplierOf(hintHundredths(work) < 100n, work);

/** The lowest rate at which some agent's price for this call reaches the minimum. */
export const rateReaching = (leastMicro: bigint, work: Work): bigint =>
  (leastMicro * 100n) / multiplierOf(hintHundredths(work) > 100n, work);

/** "1.5x" */
export const formatMultiplier = (hundredths: bigint): string =>
  `${(Number(hundredths) / 100).toFixed(2).replace(/0$/, '')}x`;

interface Times {
  /** Of its completed calls; null: there are none. */
  readonly averageMs: number | null;
  /** What its owner declares; null: nothing. */
  readonly declaredTime: string | null;
}

/** A range of seconds around the agent's average; before its first completed call what its owner declares, or a default. */
export function estimatedTime({ averageMs, declaredTime }: Times): string {
  if (averageMs === null) return declaredTime ?? '1-30s';
  const low = Math.max(1, Math.floor(averageMs / 2000));
  return `${low}-${Math.max(low + 1, Math.ceil((averageMs * 2) / 1000))}s`;
}
