/** Filters other than capabilities and words. */
export interface SearchFilter {
  readonly isOnline: readonly boolean[];
  readonly isVerified: readonly boolean[];
  readonly minReputation: number;
  readonly maxPriceMicro: bigint | null;
  readonly maxPerHourMicro: bigint | null;
}

/** True when the stored counts of each term give the total. */
export const isCounted = (filter: SearchFilter): boolean =>
  filter.minReputation <= 0 && filter.maxPriceMicro === null && filter.maxPerHourMicro === null;

/** True when every agent passes. */
export const isOpenToAll = (filter: SearchFilter): boolean =>
  isCounted(filter) && filter.isOnline.length > 1 && filter.isVerified.length > 1;
