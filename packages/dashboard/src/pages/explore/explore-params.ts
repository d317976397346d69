import { limits } from './explore-fields.ts';

const filters = ['text', 'any', 'all', 'status', 'verified', 'home', 'sort', 'cursor'] as const;

type Param = (typeof filters)[number] | (typeof limits)[number]['param'];

/** Search parameters in the URL: every filter and sort of an agent search. */
export const exploreParams: readonly Param[] = [...filters, ...limits.map(({ param }) => param)];

export type ExploreSearch = { [N in Param]?: string };
