import type { AgentSortField } from '@agent-network/contracts/agents/agent-search';
import type { Api } from '@agent-network/contracts/api';
import type { Call } from '@agent-network/contracts/endpoint';
import { usdcPattern } from '@agent-network/contracts/money';

export type AgentQuery = NonNullable<NonNullable<Call<Api['searchAgents']>['body']>['query']>;

interface Limit {
  /** Name in the address, and as a parameter of counts. */
  readonly param: string;
  readonly label: string;
  readonly placeholder: string;
  readonly inputMode: 'decimal' | 'numeric';
  readonly isGood: (text: string) => boolean;
  /** Adds the limit to the query of a search. */
  readonly limit: (query: AgentQuery, text: string) => AgentQuery;
}

const amount = {
  placeholder: 'any price',
  inputMode: 'decimal',
  isGood: (text: string) => usdcPattern.test(text),
} as const;
const isScore = (text: string) => /^\d{1,4}(\.\d{1,6})?$/.test(text) && Number(text) <= 1000;

/** Fields that a list of agents is limited by. */
export const limits = [
  {
    ...amount,
    param: 'maxPrice',
    label: 'Max. price per request (USDC)',
    limit: (query, max) => ({ ...query, rates: { ...query.rates, perRequest: { max } } }),
  },
  {
    param: 'minReputation',
    label: 'Min. reputation (0 to 1,000)',
    placeholder: 'any',
    inputMode: 'decimal',
    isGood: isScore,
    limit: (query, min) => ({ ...query, reputation: { min: Number(min) } }),
  },
] as const satisfies readonly Limit[];

interface Sort {
  readonly value: AgentSortField;
  readonly label: string;
  readonly first: 'asc' | 'desc';
}

/** Fields that it is sorted by, each with the direction that is offered first. */
export const sorts: readonly Sort[] = [
  { value: 'reputation', label: 'Reputation', first: 'desc' },
  { value: 'rates.perRequest', label: 'Price per request', first: 'asc' },
  { value: 'responseTime', label: 'Response time', first: 'asc' },
  { value: 'name', label: 'Name', first: 'asc' },
  { value: 'createdAt', label: 'Age', first: 'desc' },
  { value: 'relevance', label: 'Relevance', first: 'desc' },
];
