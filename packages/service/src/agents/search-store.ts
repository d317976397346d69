import { crc32 } from 'node:zlib';
import type { AgentSortField } from '@agent-network/contracts/agents';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import type { ListedAgent } from './agent-view.ts';
import type { Place } from './search-cursor.ts';
import { isBestMatchFirst, type SearchOrder } from './search-order.ts';

/**
 * Where agents are looked for: among those of one capability ('': all); by terms, a tsquery ('': all), with those that matter to
 * relevance; or through all agents in the order asked for, which is best for terms that many have.
 */
export type Among =
  | { readonly capability: string }
  | { readonly terms: string; readonly inName: string; readonly inTitle: string }
  | { readonly walkedFor: string };

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

export interface SearchPageQuery {
  readonly among: Among;
  /** How to get the total: by counting, from the count that is kept of a term, or not at all, as it is known. */
  readonly total: 'count' | { readonly keptOf: string } | { readonly known: number };
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
export const readSearchPage = (db: Database, query: SearchPageQuery): Promise<SearchPage> =>
  'terms' in query.among && query.among.terms !== ''
    ? db.transaction((tx) => readPlannedPage(tx, query))
    : readPage(db, query);

/** The same inside a transaction, which tells the planner what it cannot know of terms. */
export async function readPlannedPage(tx: Sql, query: SearchPageQuery): Promise<SearchPage> {
  const isWalk = 'walkedFor' in query.among;
  // It takes reading every tsvector for cheap, and knows nothing of how many agents have a term.
  await tx.query(
    'plan-search',
    `select set_config('enable_seqscan', 'off', true), set_config(name, $1, true)
       from unnest('{enable_bitmapscan,enable_hashjoin,enable_mergejoin}'::text[]) as name`,
    [isWalk ? 'off' : 'on'],
  );
  return readPage(tx, query);
}

async function readPage(sql: Sql, query: SearchPageQuery): Promise<SearchPage> {
  const { text, params } = statementOf(query);
  // Sorts of several keys come in too many shapes to be kept prepared.
  const isUsual = query.order.keys.length === 1 || isBestMatchFirst(query.order);
  const name = isUsual ? `search-${crc32(text)}` : '';
  const rows = await sql.query<FoundAgent & { total: bigint; keys: string[] }>(name, text, params);
  return {
    total: Number(rows[0]?.total ?? 0),
    agents: rows.filter(({ id }) => id !== null).map((row) => ({ ...row, place: { keys: row.keys, id: row.id } })),
  };
}

function statementOf(query: SearchPageQuery): Statement {
  const params: unknown[] = [];
  const bind = (value: unknown, type: string) => `$${params.push(value)}::${type}`;
  const keys = query.order.keys.map(({ field }) => columns[field][0]);
  const source = sourceOf(query, bind);
  // What an index alone can count is counted apart; what takes a look at each agent is gathered once.
  const isGathered = query.total === 'count' && 'terms' in query.among;
  const hits = isGathered ? `hit as materialized (${source}), ` : '';
  const text = `with ${hits}page as (
       select agent_id, ${keys.join(', ')} from ${isGathered ? 'hit' : `(${source}) hit`}
        where ${query.after ? afterClause(query.order, query.after, bind) : 'true'} order by ${orderClause(query.order, '')}
        limit ${bind(query.limit, 'int')} offset ${bind(query.offset, 'int')}
     ), counted as (${totalOf(query, isGathered ? 'hit' : `(${source}) hit`, bind)})
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
  const selected = new Set(order.keys.map(({ field }) => `l.${columns[field][0]}`));
  const wanted = [];
  let table = 'agent_listing l';
  if ('capability' in among) wanted.push(`l.capability = ${bind(among.capability, 'text')}`);
  else if ('walkedFor' in among) {
    table = 'agent_listing l join agent_search s on s.agent_id = l.agent_id';
    wanted.push(`l.capability = ''`, `s.terms @@ ${bind(among.walkedFor, 'tsquery')}`);
  } else {
    table = 'agent_search l';
    if (among.terms !== '') wanted.push(`l.terms @@ ${bind(among.terms, 'tsquery')}`);
    if (selected.delete('l.relevance')) selected.add(relevance(among, bind));
  }
  wanted.push(...filtersOf(filter, bind));
  return `select l.agent_id, ${[...selected].join(', ')} from ${table} where ${wanted.join(' and ')}`;
}

function filtersOf(filter: SearchFilter, bind: Bind): string[] {
  const wanted = [
    `l.is_online = any(${bind(filter.isOnline, 'boolean[]')})`,
    `l.is_verified = any(${bind(filter.isVerified, 'boolean[]')})`,
  ];
  if (filter.minReputation > 0) wanted.push(`l.reputation >= ${bind(filter.minReputation, 'int')}`);
  if (filter.maxPriceMicro !== null) wanted.push(`l.price_micro <= ${bind(filter.maxPriceMicro, 'bigint')}`);
  if (filter.maxPerHourMicro !== null) wanted.push(`l.per_hour_micro <= ${bind(filter.maxPerHourMicro, 'bigint')}`);
  return wanted;
}

const relevance = ({ inName, inTitle }: { inName: string; inTitle: string }, bind: Bind) =>
  `case when l.terms @@ ${bind(inName, 'tsquery')} then 2 when l.terms @@ ${bind(inTitle, 'tsquery')} then 1 else 0 end as relevance`;

function totalOf({ total, filter }: SearchPageQuery, hits: string, bind: Bind): string {
  if (total === 'count') return `select count(*) as total from ${hits}`;
  if ('known' in total) return `select ${bind(total.known, 'bigint')} as total`;
  return `select coalesce(sum(change), 0)::bigint as total from agent_count where term = ${bind(total.keptOf, 'text')}
      and is_online = any(${bind(filter.isOnline, 'boolean[]')}) and is_verified = any(${bind(filter.isVerified, 'boolean[]')})`;
}

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

/** How many agents have each term: all of them, and those that pass the filter's states. */
export async function readTermCounts(
  sql: Sql,
  terms: readonly string[],
  filter: Pick<SearchFilter, 'isOnline' | 'isVerified'>,
): Promise<ReadonlyMap<string, { all: number; fitting: number }>> {
  const rows = await sql.query<{ term: string; all: bigint; fitting: bigint }>(
    'read-term-counts',
    `select term, coalesce(sum(change), 0)::bigint as "all",
            coalesce(sum(change) filter (where is_online = any($2) and is_verified = any($3)), 0)::bigint as fitting
       from agent_count where term = any($1) group by term`,
    [terms, filter.isOnline, filter.isVerified],
  );
  return new Map(rows.map(({ term, all, fitting }) => [term, { all: Number(all), fitting: Number(fitting) }]));
}
