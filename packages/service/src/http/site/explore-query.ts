import { AgentSearch, type AgentSortField } from '@agent-network/contracts/agents/agent-search';
import { problemText } from '../../lib/json/problem-text.ts';

/** Fields of the form, by their names in the address of a list. */
const fields = ['q', 'capability', 'maxPrice', 'minReputation', 'online', 'verified', 'sort', 'cursor'] as const;
type Field = (typeof fields)[number];

/** The query as typed; empty fields are left out. */
export type ExploreParams = { readonly [F in Field]?: string };

const MAX_CHARS = 1000;
const PER_PAGE = 20;

/** Others are ignored: links from elsewhere bring parameters of their own. */
export const exploreParams = (query: URLSearchParams): ExploreParams =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = query.get(field)?.trim().slice(0, MAX_CHARS);
      return value ? [[field, value]] : [];
    }),
  );

interface Sort {
  readonly value: string;
  readonly label: string;
  readonly by: { readonly field: AgentSortField; readonly order: 'asc' | 'desc' } | null;
}

export const sorts: readonly Sort[] = [
  { value: '', label: 'Best match', by: null },
  { value: 'price', label: 'Lowest price', by: { field: 'rates.perRequest', order: 'asc' } },
  { value: 'reputation', label: 'Best reputation', by: { field: 'reputation', order: 'desc' } },
  { value: 'speed', label: 'Quickest answer', by: { field: 'responseTime', order: 'asc' } },
  { value: 'newest', label: 'Newest', by: { field: 'createdAt', order: 'desc' } },
  { value: 'name', label: 'Name', by: { field: 'name', order: 'asc' } },
];

const labels: Readonly<Record<string, string>> = {
  text: 'Search',
  capabilities: 'Capability',
  rates: 'Price',
  reputation: 'Reputation',
};

export type ExploreQuery =
  | { readonly isGood: true; readonly search: AgentSearch }
  | { readonly isGood: false; readonly problems: readonly string[] };

/** The search of a form, or the faults of its fields. */
export function exploreQuery(params: ExploreParams): ExploreQuery {
  const { q, capability, maxPrice, minReputation, online, verified, cursor } = params;
  const by = sorts.find(({ value }) => value === (params.sort ?? ''))?.by ?? null;
  const parsed = AgentSearch.safeParse(
    {
      query: {
        ...(q === undefined ? {} : { text: q }),
        ...(capability === undefined ? {} : { capabilities: { all: [capability] } }),
        ...(maxPrice === undefined ? {} : { rates: { perRequest: { max: maxPrice } } }),
        ...(minReputation === undefined ? {} : { reputation: { min: Number(minReputation) } }),
        ...(online === undefined ? {} : { online: true }),
        ...(verified === undefined ? {} : { verified: true }),
      },
      ...(by === null ? {} : { sort: [by] }),
      ...(cursor === undefined ? {} : { cursor }),
      limit: PER_PAGE,
    },
    { error: problemText },
  );
  if (parsed.success) return { isGood: true, search: parsed.data };
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${labels[String(path[1] ?? path[0])] ?? String(path[0] ?? 'The address')}: ${message}`,
  );
  return { isGood: false, problems: [...new Set(problems)] };
}

/** Address of the list with these fields. */
export function explorePath(params: ExploreParams): string {
  const text = new URLSearchParams(Object.entries(params)).toString();
  return text === '' ? '/explore' : `/explore?${text}`;
}
