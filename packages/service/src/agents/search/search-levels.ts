import type { SearchOrder } from './index/search-order.ts';

/** A set of agents, told by the sets that are kept as bits: of a term, or of all terms that begin like this. */
export type Bits =
  | { readonly term: string }
  | { readonly start: string }
  | { readonly all: readonly Bits[] }
  | { readonly any: readonly Bits[] }
  | { readonly not: Bits };

/** A number that agents have, and the digits that it is kept in: how many values each takes, the least significant first. */
interface Leveled {
  readonly mark: string;
  readonly digits: readonly number[];
}

const reputationLevels: Leveled = { mark: '!r', digits: [5, 5, 41] };
const priceLevels: Leveled = { mark: '!p', digits: [10, 10, 10, 17] };
const hourLevels: Leveled = { mark: '!h', digits: [10, 10, 10, 17] };

export const atLeastReputation = (least: number): Bits | null => atLeast(reputationLevels, least);
/** Up to the last amount of the step that the limit is in. */
export const upToPrice = (maxMicro: bigint): Bits | null => upTo(priceLevels, amountStep(maxMicro) + 1);
export const upToPerHour = (maxMicro: bigint): Bits | null => upTo(hourLevels, amountStep(maxMicro) + 1);

/** null: everyone. Of each digit, a set is kept for every level: of those whose digit is at least so much. */
function atLeast({ mark, digits }: Leveled, least: number): Bits | null {
  let bits: Bits | null = null;
  let rest = least;
  for (const [digit, values] of digits.entries()) {
    const isFirst = digit === digits.length - 1;
    const value = isFirst ? rest : rest % values;
    const reaching = (level: number): Bits => ({ term: `${mark}${digit}:${level}` });
    const either: Bits | null = bits && value + 1 < values ? { any: [reaching(value + 1), bits] } : bits;
    if (value === 0) bits = either;
    else bits = either ? { all: [reaching(value), either] } : reaching(value);
    rest = Math.floor(rest / values);
  }
  return bits;
}

function upTo(number: Leveled, above: number): Bits | null {
  const over = atLeast(number, above);
  return over && { not: over };
}

const STEPS_TO_A_LENGTH = 1000;

/**
 * The step of an amount: its first three digits, and how many follow. Counted from one below, so that a limit of few digits is the
 * end of a step. `amount_step` of the database says the same.
 */
export function amountStep(micro: bigint): number {
  if (micro <= 1n) return 0;
  const digits = String(micro - 1n);
  return Math.max(0, digits.length - 3) * STEPS_TO_A_LENGTH + Number(digits.slice(0, 3));
}

/** The least amount that is in this step or above. */
export function firstOfStep(step: number): bigint {
  if (step <= 0) return 0n;
  const more = Math.floor(step / STEPS_TO_A_LENGTH);
  const first = Math.max(step % STEPS_TO_A_LENGTH, more > 0 ? STEPS_TO_A_LENGTH / 10 : 0);
  return BigInt(first) * 10n ** BigInt(more) + 1n;
}

/** The largest amount of the step that this one is in. */
export const lastOfStep = (micro: bigint): bigint => firstOfStep(amountStep(micro) + 1) - 1n;

/** Those that come first in an order: nobody else comes before any of them. */
export interface Head {
  readonly bits: Bits;
  readonly column: 'reputation' | 'price_micro' | 'per_hour_micro';
  /** Comparison of the column with the bound, for agents in the head. */
  readonly compares: '>=' | '<';
  readonly bound: bigint;
}

const REPUTATIONS_TO_A_LEVEL = 25;
const STEPS_TO_A_LEVEL = 10;

/** The smallest head that few sets tell, of those that reach at least to this value of the first key; null when that is everyone. */
export function headOf({ keys: [first] }: SearchOrder, value: number): Head | null {
  const isUp = first?.order === 'asc';
  const levelOf = (number: number, size: number) => (Math.floor(number / size) + (isUp ? 1 : 0)) * size;
  const head = (numbers: Leveled, column: Head['column'], least: number, bound: bigint): Head | null => {
    const bits = isUp ? upTo(numbers, least) : atLeast(numbers, least);
    return bits && { bits, column, compares: isUp ? '<' : '>=', bound };
  };
  if (first?.field === 'reputation') {
    const least = levelOf(value, REPUTATIONS_TO_A_LEVEL);
    return head(reputationLevels, 'reputation', least, BigInt(least));
  }
  const step = levelOf(amountStep(BigInt(value)), STEPS_TO_A_LEVEL);
  if (first?.field === 'rates.perRequest') return head(priceLevels, 'price_micro', step, firstOfStep(step));
  return first?.field === 'rates.perHour' ? head(hourLevels, 'per_hour_micro', step, firstOfStep(step)) : null;
}
