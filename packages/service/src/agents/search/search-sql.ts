import type { AgentSortField } from '@agent-network/contracts/agents/agent-search';
import type { Sql } from '../../db/sql.ts';
import type { ListedAgent } from '../agent-view.ts';
import type { Place } from './index/listing.ts';
import type { SearchFilter } from './index/search-filter.ts';
import type { SearchOrder } from './index/search-order.ts';

/** The requested part of the matching agents. */
export interface PageWish {
  readonly order: SearchOrder;
  readonly after: Place | null;
  readonly limit: number;
  readonly offset: number;
}

export type FoundAgent = ListedAgent & { readonly place: Place };

export interface SearchPage {
  readonly total: number;
  readonly agents: FoundAgent[];
}

/** Adds a parameter to the statement, and says how it is named there. */
export type Bind = (value: unknown, type: string) => string;

export function bindTo(params: unknown[]): Bind {
  return (value, type) => `$${params.push(value)}::${type}`;
}

const columns: Record<AgentSortField, readonly [name: string, type: string]> = {
  reputation: ['reputation', 'integer'],
  'rates.perRequest': ['price_micro', 'bigint'],
  'rates.perHour': ['per_hour_micro', 'bigint'],
  responseTime: ['response_ms', 'double precision'],
  name: ['name', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  relevance: ['relevance', 'integer'],
};

export const sortColumns = (order: SearchOrder): string[] => order.keys.map(({ field }) => columns[field][0]);

/** The table that holds all agents with these columns. */
export const agentsWith = (names: readonly string[]): 'agent_found' | 'agent_search' =>
  names.includes('response_ms') ? 'agent_found' : 'agent_search';

export function filtersOf(filter: SearchFilter, bind: Bind): string[] {
  const wanted = [];
  if (filter.isOnline.length === 1) wanted.push(`l.is_online = ${bind(filter.isOnline[0], 'boolean')}`);
  if (filter.isVerified.length === 1) wanted.push(`l.is_verified = ${bind(filter.isVerified[0], 'boolean')}`);
  if (filter.minReputation > 0) wanted.push(`(l.reputation >= ${bind(filter.minReputation, 'int')}) is true`);
  return [...wanted, ...priceFiltersOf(filter, bind)];
}

/** Not as ends of a range of an index: the planner would take that for a way to the page. */
export function priceFiltersOf(filter: SearchFilter, bind: Bind): string[] {
  const wanted = [];
  if (filter.maxPriceMicro !== null) wanted.push(`(l.price_micro <= ${bind(filter.maxPriceMicro, 'bigint')}) is true`);
  if (filter.maxPerHourMicro !== null)
    wanted.push(`(l.per_hour_micro <= ${bind(filter.maxPerHourMicro, 'bigint')}) is true`);
  return wanted;
}

export const orderClause = (order: SearchOrder, prefix: string): string =>
  [
    ...order.keys.map((key) => `${prefix}${columns[key.field][0]} ${key.order}`),
    `${prefix}agent_id ${order.byId}`,
  ].join(', ');

/** Condition for agents after a position, with the first key as an end of the index range. */
export function afterClause(order: SearchOrder, place: Place, bind: Bind): string {
  let clause = `agent_id ${order.byId === 'asc' ? '>' : '<'} ${bind(place.id, 'text')}`;
  for (const [index, key] of [...order.keys.entries()].reverse()) {
    const [column, type] = columns[key.field];
    const value = bind(place.keys[index], type);
    const beyond = key.order === 'asc' ? '>' : '<';
    const end = index === 0 ? `${column} ${beyond}= ${value} and ` : '';
    clause = `${end}(${column} ${beyond} ${value} or (${column} = ${value} and ${clause}))`;
  }
  return clause;
}

/** The agents of `page` (agent_id and sort columns), in order, each beside the total that `counted` tells. */
export const shownAgents = (order: SearchOrder): string =>
  `select c.total, array[${sortColumns(order)
    .map((key) => `p.${key}::text`)
    .join(', ')}]::text[] as keys, g.id, g.name, g.capabilities,
          g.per_request_micro as "perRequestMicro", g.per_hour_micro as "perHourMicro", g.reputation, g.status,
          g.response_ms as "responseMs", g.endpoint_proven_at as "endpointProvenAt",
          g.home_node is not null or a.wallet_proven_at is not null and g.frozen_at is null as "isWalletProven", n.label as "homeLabel"
     from counted c left join page p on true left join agent g on g.id = p.agent_id left join account a on a.id = g.account_id
       left join network_node n on n.id = g.home_node
    order by ${orderClause(order, 'p.')}`;

/** Runs a statement that ends in `shownAgents`. */
export async function readShownAgents(sql: Sql, name: string, text: string, params: unknown[]): Promise<SearchPage> {
  const rows = await sql.query<FoundAgent & { total: bigint; keys: string[] }>(name, text, params);
  return {
    total: Number(rows[0]?.total ?? 0),
    agents: rows.filter(({ id }) => id !== null).map((row) => ({ ...row, place: { keys: row.keys, id: row.id } })),
  };
}
