import type { SearchFilter } from './index/search-filter.ts';
import { capabilityTerm, HOME_MARK, type Mark, THIS_NODE, type Wanted, type Wording } from './index/words.ts';
import { atLeastReputation, type Bits, upToPerHour, upToPrice } from './search-levels.ts';

/** All agents that are listed. */
export const everyAgent: Bits = { term: '' };

/** Agents that have the capabilities and are at home there. */
export const wantedBits = ({ any, all, home }: Wanted): Bits[] => [
  ...all.map((capability) => ({ term: capabilityTerm(capability) })),
  ...(any.length === 0 ? [] : [{ any: any.map((capability) => ({ term: capabilityTerm(capability) })) }]),
  ...(home === null ? [] : [home === THIS_NODE ? { not: { start: HOME_MARK } } : { term: `${HOME_MARK}${home}` }]),
];

/** Agents that have every word where the mark says. */
export const wordBits = ({ words, isOpen }: Wording, mark: Mark): Bits[] =>
  words.map((word, index) =>
    isOpen && index === words.length - 1 ? { start: `${mark}${word}` } : { term: `${mark}${word}` },
  );

/** Agents that pass the filter; of those within the last step of a limit to a price, all, whatever their price. */
export const filterBits = ({ isOnline, isVerified, ...filter }: SearchFilter): Bits[] =>
  [
    stateBits(isOnline, '!online'),
    stateBits(isVerified, '!verified'),
    atLeastReputation(filter.minReputation),
    filter.maxPriceMicro === null ? null : upToPrice(filter.maxPriceMicro),
    filter.maxPerHourMicro === null ? null : upToPerHour(filter.maxPerHourMicro),
  ].filter((bits) => bits !== null);

function stateBits(wanted: readonly boolean[], term: string): Bits | null {
  if (wanted.length !== 1) return null;
  return wanted[0] ? { term } : { not: { term } };
}
