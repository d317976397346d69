/** What stands in the URL: every filter and sort that a search of agents has. */
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
