/** Search parameters in the URL: every filter and sort of an agent search. */
export const exploreParams = [
  'text',
  'any',
  'all',
  'maxPrice',
  'maxPerHour',
  'minReputation',
  'status',
  'verified',
  'home',
  'sort',
  'cursor',
] as const;

export type ExploreSearch = { [N in (typeof exploreParams)[number]]?: string };
