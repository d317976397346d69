import type { SearchFilter } from './search-filter.ts';
import { capabilityTerm, type Mark, type Wanted, type Wording } from './words.ts';

/** A set of agents, told by the sets that are kept as bits: of a term, or of all terms that begin like this. */
export type Bits =
  | { readonly term: string }
  | { readonly start: string }
  | { readonly all: readonly Bits[] }
  | { readonly any: readonly Bits[] }
  | { readonly not: Bits };

/** All agents that are listed. */
export const everyAgent: Bits = { term: '' };

/** Agents that have the capabilities. */
export const capabilityBits = ({ any, all }: Wanted): Bits[] => [
  ...all.map((capability) => ({ term: capabilityTerm(capability) })),
  ...(any.length === 0 ? [] : [{ any: any.map((capability) => ({ term: capabilityTerm(capability) })) }]),
];

/** Agents that have every word where the mark says. */
export const wordBits = ({ words, isOpen }: Wording, mark: Mark): Bits[] =>
  words.map((word, index) =>
    isOpen && index === words.length - 1 ? { start: `${mark}${word}` } : { term: `${mark}${word}` },
  );

const REPUTATION_DIGITS = 10;
const STEP_DIGITS = 12;

/** Agents that pass the filter; of those within the last step of a limit to a price, all, whatever their price. */
export const filterBits = (filter: SearchFilter): Bits[] => [
  ...stateBits(filter.isOnline, '!online'),
  ...stateBits(filter.isVerified, '!verified'),
  ...atLeast('!r', REPUTATION_DIGITS, filter.minReputation),
  ...upTo('!p', filter.maxPriceMicro),
  ...upTo('!h', filter.maxPerHourMicro),
];

function stateBits(wanted: readonly boolean[], term: string): Bits[] {
  if (wanted.length !== 1) return [];
  return [wanted[0] ? { term } : { not: { term } }];
}

const upTo = (name: string, maxMicro: bigint | null): Bits[] =>
  maxMicro === null ? [] : atLeast(name, STEP_DIGITS, amountStep(maxMicro) + 1).map((above) => ({ not: above }));

/** Numbers, kept digit by digit, that are at least so many; everything is at least 0. */
function atLeast(name: string, digits: number, least: number): Bits[] {
  let bits: Bits | null = null;
  for (let digit = 0; digit < digits; digit++) {
    const one = { term: `${name}${digit}` };
    if ((least >> digit) & 1) bits = bits ? { all: [one, bits] } : one;
    else bits = bits && { any: [one, bits] };
  }
  return bits ? [bits] : [];
}

const STEPS_TO_A_DOUBLING = 64;

/** The step of an amount: exact below 64, then 64 steps to each doubling. `amount_step` of the database says the same. */
export function amountStep(micro: bigint): number {
  const doublings = Math.max(0, micro.toString(2).length - 7);
  return doublings * STEPS_TO_A_DOUBLING + Number(micro >> BigInt(doublings));
}

/** The largest amount of the step that this one is in. */
export function lastOfStep(micro: bigint): bigint {
  const doublings = BigInt(Math.max(0, micro.toString(2).length - 7));
  return (((micro >> doublings) + 1n) << doublings) - 1n;
}
