/** Filters other than capabilities and words. */
export interface SearchFilter {
  readonly isOnline: readonly boolean[];
  readonly isVerified: readonly boolean[];
  readonly minReputation: number;
  readonly maxPriceMicro: bigint | null;
  readonly maxPerHourMicro: bigint | null;
}
