/** What agents have to be like besides what they can do and are called. */
export interface SearchFilter {
  readonly isOnline: readonly boolean[];
  readonly isVerified: readonly boolean[];
  readonly minReputation: number;
  readonly maxPriceMicro: bigint | null;
  readonly maxPerHourMicro: bigint | null;
}

/** Whether the counts that are kept of each term tell the total. */
export const isCounted = (filter: SearchFilter): boolean =>
  filter.minReputation <= 0 && filter.maxPriceMicro === null && filter.maxPerHourMicro === null;

/** Whether every agent passes. */
export const isOpenToAll = (filter: SearchFilter): boolean =>
  isCounted(filter) && filter.isOnline.length > 1 && filter.isVerified.length > 1;
