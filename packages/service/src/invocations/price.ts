import { timesHundredths } from '@agent-network/contracts/money';

/** Hints of the input and what they do to the price, in hundredths (docs/decisions/0005-price.md). */
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
  readonly totalMicro: bigint;
}

function multiplierOf(task: string, input: Record<string, unknown>): bigint {
  const hint = complexityHundredths.get(input.complexity);
  const bytes = Buffer.byteLength(task) + Buffer.byteLength(JSON.stringify(input));
  const size = sizeSteps.find(({ aboveBytes }) => bytes > aboveBytes)?.hundredths ?? 100n;
  return ((hint ?? 100n) * size) / 100n;
}

/** The price of a call. A quote and a direct call follow the same rule; a quote locks what it gives. */
export function priceOf(perRequestMicro: bigint, task: string, input: Record<string, unknown>): Price {
  const multiplierHundredths = multiplierOf(task, input);
  return {
    baseMicro: perRequestMicro,
    multiplierHundredths,
    totalMicro: timesHundredths(perRequestMicro, multiplierHundredths),
  };
}

/** The highest rate at which a call costs no more than this. */
export const rateWithin = (mostMicro: bigint, task: string, input: Record<string, unknown>): bigint =>
  (mostMicro * 100n) / multiplierOf(task, input);

/** "1.5x" */
export const formatMultiplier = (hundredths: bigint): string =>
  `${(Number(hundredths) / 100).toFixed(2).replace(/0$/, '')}x`;

/** A range of seconds from the agent's average; before its first completed call nobody knows better than the usual. */
export function estimatedTime(averageMs: number | null): string {
  if (averageMs === null) return '1-30s';
  const low = Math.max(1, Math.floor(averageMs / 2000));
  return `${low}-${Math.max(low + 1, Math.ceil((averageMs * 2) / 1000))}s`;
}
