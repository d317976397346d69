import type { Api } from '@agent-network/contracts/api';
import type { Call } from '@agent-network/contracts/endpoint';
import { type AgentQuery, limits } from './explore-fields.ts';
import type { ExploreSearch } from './explore-params.ts';

type SearchBody = NonNullable<Call<Api['searchAgents']>['body']>;
type FacetQuery = NonNullable<Call<Api['getAgentFacets']>['query']>;
type SortKey = NonNullable<SearchBody['sort']>[number];

const PAGE_SIZE = 30;

/** "a,b" as a list; empty for nothing. */
export const listOf = (text: string | undefined): string[] => (text ?? '').split(',').filter((each) => each !== '');

/** "rates.perRequest.asc,reputation.desc" as keys. The API refuses unknown ones. */
export const sortOf = (text: string | undefined): SortKey[] =>
  listOf(text).map((key) => {
    const at = key.lastIndexOf('.');
    return { field: key.slice(0, at), order: key.slice(at + 1) } as SortKey;
  });

export const sortText = (keys: readonly SortKey[]): string =>
  keys.map(({ field, order }) => `${field}.${order}`).join(',');

/** The filters of an address as the body of a search. */
export function searchBody(search: ExploreSearch): SearchBody {
  const { text, status, verified, home, cursor } = search;
  const [any, all] = [listOf(search.any), listOf(search.all)];
  const query: AgentQuery = {
    ...(text ? { text } : {}),
    ...(any.length + all.length > 0
      ? { capabilities: { ...(any.length > 0 ? { any } : {}), ...(all.length > 0 ? { all } : {}) } }
      : {}),
    ...(status ? { online: status === 'online' } : {}),
    ...(verified ? { verified: verified === 'true' } : {}),
    ...(home ? { home } : {}),
  };
  return {
    query: limits.reduce((limited, { param, limit }) => {
      const value = search[param];
      return value ? limit(limited, value) : limited;
    }, query),
    ...(search.sort ? { sort: sortOf(search.sort) } : {}),
    ...(cursor ? { cursor } : {}),
    limit: PAGE_SIZE,
    describe: true,
  };
}

/** The filters as a query for counts. */
export function facetQuery({ sort: _sort, cursor: _cursor, status, verified, ...filters }: ExploreSearch): FacetQuery {
  return {
    ...filters,
    ...(status ? { status: status === 'online' ? 'online' : 'offline' } : {}),
    ...(verified ? { verified: verified === 'true' ? 'true' : 'false' } : {}),
  };
}

/** True if a filter is set; order and page do not count. */
export const hasFilter = (search: ExploreSearch): boolean =>
  Object.keys(search).some((name) => name !== 'sort' && name !== 'cursor');

/** The list with the value in it, or without it when it was. */
export const toggled = (list: readonly string[], value: string): string =>
  (list.includes(value) ? list.filter((each) => each !== value) : [...list, value]).join(',');
