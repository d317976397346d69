import { crc32 } from 'node:zlib';
import type { AgentSortField } from '@agent-network/contracts/agents';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import type { ListedAgent } from './agent-view.ts';
import type { Place } from './search-cursor.ts';
import type { SearchOrder } from './search-order.ts';

/** Where agents are looked for: among those of one capability ('': all), or by terms (tsqueries; '': all). */
export type Among =
  | { readonly capability: string }
  | { readonly terms: string; readonly inName: string; readonly inTitle: string };

export interface SearchFilter {
  readonly isOnline: readonly boolean[];
  readonly isVerified: readonly boolean[];
  readonly minReputation: number;
  readonly maxPriceMicro: bigint | null;
  readonly maxPerHourMicro: bigint | null;
}

export interface SearchPageQuery {
  readonly among: Among;
  /** The capability whose kept count is the total, when no other filter than online and verified is set; null: count. */
  readonly countedAs: string | null;
  readonly filter: SearchFilter;
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

const columns: Record<AgentSortField, readonly [name: string, type: string]> = {
  reputation: ['reputation', 'integer'],
  'rates.perRequest': ['price_micro', 'bigint'],
  'rates.perHour': ['per_hour_micro', 'bigint'],
  responseTime: ['response_ms', 'double precision'],
  name: ['name', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  relevance: ['relevance', 'integer'],
};

/** Fields that the inverted table holds; an order by others needs the rows of the agents. */
export const listedFields: ReadonlySet<AgentSortField> = new Set(['reputation', 'rates.perRequest', 'rates.perHour']);

interface Statement {
  readonly text: string;
  readonly params: unknown[];
}

/** One page in a total order, and the exact number of agents that match. */
export async function readSearchPage(db: Database, query: SearchPageQuery): Promise<SearchPage> {
  const statement = statementOf(query);
  // Sorts of several keys come in too many shapes to be kept prepared.
  const name = query.order.keys.length === 1 ? `search-${crc32(statement.text)}` : '';
  const run = (sql: Sql) =>
    sql.query<FoundAgent & { total: bigint; keys: string[] }>(name, statement.text, statement.params);
  const byTerms = 'terms' in query.among && query.among.terms !== '';
  const runByTerms = async (tx: Sql) => {
    await planByTerms(tx);
    return run(tx);
  };
  const rows = byTerms ? await db.transaction(runByTerms) : await run(db);
  return {
    total: Number(rows[0]?.total ?? 0),
    agents: rows.filter(({ id }) => id !== null).map((row) => ({ ...row, place: { keys: row.keys, id: row.id } })),
  };
}

/** A scan of all agents would read every tsvector, which the planner takes for cheap; and what it guesses depends on the terms. */
const planByTerms = (sql: Sql) =>
  sql.query(
    'plan-by-terms',
    `select set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`,
  );

function statementOf(query: SearchPageQuery): Statement {
  const params: unknown[] = [];
  const bind = (value: unknown, type: string) => `$${params.push(value)}::${type}`;
  const keys = query.order.keys.map(({ field }) => columns[field][0]);
  const source = sourceOf(query, bind);
  const after = query.after ? afterClause(query.order, query.after, bind) : 'true';
  const page = `select agent_id, ${keys.join(', ')} from %s order by ${orderClause(query.order, '')}
       limit ${bind(query.limit, 'int')} offset ${bind(query.offset, 'int')}`;
  const head =
    query.countedAs === null
      ? `hit as materialized (${source}), page as (${page.replace('%s', `hit where ${after}`)}),
         counted as (select count(*) as total from hit)`
      : `page as (${page.replace('%s', `(${source}) hit where ${after}`)}),
         counted as (${keptCount(query.countedAs, query.filter, bind)})`;
  const text = `with ${head}
     select c.total, array[${keys.map((key) => `p.${key}::text`).join(', ')}] as keys, g.id, g.name, g.capabilities,
            g.per_request_micro as "perRequestMicro", g.per_hour_micro as "perHourMicro", g.reputation, g.status,
            g.response_ms as "responseMs", g.endpoint_proven_at as "endpointProvenAt",
            a.wallet_proven_at is not null as "isWalletProven"
       from counted c left join page p on true left join agent g on g.id = p.agent_id left join account a on a.id = g.account_id
      order by ${orderClause(query.order, 'p.')}`;
  return { text, params };
}

type Bind = (value: unknown, type: string) => string;

function sourceOf({ among, filter, order }: SearchPageQuery, bind: Bind): string {
  const wanted = [];
  const selected = new Set(order.keys.map(({ field }) => columns[field][0]));
  let table = 'agent_listing';
  if ('capability' in among) wanted.push(`capability = ${bind(among.capability, 'text')}`);
  else {
    table = 'agent_search';
    if (among.terms !== '') wanted.push(`terms @@ ${bind(among.terms, 'tsquery')}`);
    if (selected.delete('relevance')) selected.add(relevance(among, bind));
  }
  // Open ends are given too: one text for many queries, each an end of the same index range.
  wanted.push(
    `is_online = any(${bind(filter.isOnline, 'boolean[]')})`,
    `is_verified = any(${bind(filter.isVerified, 'boolean[]')})`,
  );
  if (filter.minReputation > 0) wanted.push(`reputation >= ${bind(filter.minReputation, 'int')}`);
  if (filter.maxPriceMicro !== null) wanted.push(`price_micro <= ${bind(filter.maxPriceMicro, 'bigint')}`);
  if (filter.maxPerHourMicro !== null) wanted.push(`per_hour_micro <= ${bind(filter.maxPerHourMicro, 'bigint')}`);
  return `select agent_id, ${[...selected].join(', ')} from ${table} where ${wanted.join(' and ')}`;
}

const relevance = ({ inName, inTitle }: { inName: string; inTitle: string }, bind: Bind) =>
  `case when terms @@ ${bind(inName, 'tsquery')} then 2 when terms @@ ${bind(inTitle, 'tsquery')} then 1 else 0 end as relevance`;

const keptCount = (capability: string, filter: SearchFilter, bind: Bind) =>
  `select coalesce(sum(change), 0)::bigint as total from agent_count where capability = ${bind(capability, 'text')}
      and is_online = any(${bind(filter.isOnline, 'boolean[]')}) and is_verified = any(${bind(filter.isVerified, 'boolean[]')})`;

const orderClause = (order: SearchOrder, prefix: string) =>
  [
    ...order.keys.map((key) => `${prefix}${columns[key.field][0]} ${key.order}`),
    `${prefix}agent_id ${order.byId}`,
  ].join(', ');

/** What comes after a place, with the first key as an end of the index range. */
function afterClause(order: SearchOrder, place: Place, bind: Bind): string {
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
