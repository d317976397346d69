import { crc32 } from 'node:zlib';
import type { Sql } from '../../db/sql.ts';
import type { SearchFilter } from './index/search-filter.ts';
import { capabilityTerm } from './index/words.ts';
import {
  afterClause,
  agentsWith,
  bindTo,
  filtersOf,
  orderClause,
  type PageWish,
  readShownAgents,
  type SearchPage,
  shownAgents,
  sortColumns,
} from './search-sql.ts';

/** Sources in sort order: the agents of one capability ('': all) in the inverted table, or all in the tables of searches. */
export type Walk = { readonly capability: string } | 'agents' | 'responses';

/** Tables have an index for each of these, as the first key of an order. */
export function walkFor({ order }: Pick<PageWish, 'order'>, capability: string): Walk | null {
  const [first, ...rest] = order.keys.map(({ field }) => field);
  if (first === undefined || first === 'createdAt' || first === 'name') return 'agents';
  if (first === 'responseTime') return 'responses';
  if (first === 'relevance' || !rest.every((field) => listed.has(field))) return null;
  return { capability: first === 'rates.perHour' ? '' : capability };
}

/** The capability that the walk covers. */
export const capabilityOf = (walk: Walk | null): string =>
  walk === null || typeof walk === 'string' ? '' : walk.capability;

const listed: ReadonlySet<string> = new Set(['reputation', 'rates.perRequest', 'rates.perHour', 'relevance']);

/** A page of the agents of one capability that pass the filter, walking in order, and the exact total that is kept of them. */
export function readListedPage(
  sql: Sql,
  walk: Walk,
  query: PageWish & { readonly filter: SearchFilter },
): Promise<SearchPage> {
  const params: unknown[] = [];
  const bind = bindTo(params);
  const { order, filter, after } = query;
  const capability = capabilityOf(walk);
  const wanted = [
    ...(typeof walk === 'string' ? [] : [`l.capability = ${bind(capability, 'text')}`]),
    ...filtersOf(filter, bind),
    ...(after ? [afterClause(order, after, bind)] : []),
  ];
  const text = `with page as (
      select agent_id, ${sortColumns(order).join(', ')} from ${typeof walk === 'string' ? agentsWith(sortColumns(order)) : 'agent_listing'} l
       where ${wanted.length === 0 ? 'true' : wanted.join(' and ')} order by ${orderClause(order, '')}
       limit ${bind(query.limit, 'int')} offset ${bind(query.offset, 'int')}
    ), counted as (
      select coalesce(sum(change), 0)::bigint as total from agent_count where term = ${bind(capabilityTerm(capability), 'text')}
         and is_online = any(${bind(filter.isOnline, 'boolean[]')}) and is_verified = any(${bind(filter.isVerified, 'boolean[]')})
    ) ${shownAgents(order)}`;
  // Sorts of several keys come in too many shapes to be kept prepared.
  return readShownAgents(sql, order.keys.length === 1 ? `search-${crc32(text)}` : '', text, params);
}

export type TermCounts = (term: string) => { readonly all: number; readonly fitting: number };

/** Number of agents with each term: in total, and of those that pass the filter's states. */
export async function readTermCounts(
  sql: Sql,
  terms: readonly string[],
  filter: Pick<SearchFilter, 'isOnline' | 'isVerified'>,
): Promise<TermCounts> {
  const rows = await sql.query<{ term: string; all: bigint; fitting: bigint }>(
    'read-term-counts',
    `select term, coalesce(sum(change), 0)::bigint as "all",
            coalesce(sum(change) filter (where is_online = any($2) and is_verified = any($3)), 0)::bigint as fitting
       from agent_count where term = any($1) group by term`,
    [terms, filter.isOnline, filter.isVerified],
  );
  const found = new Map(rows.map(({ term, all, fitting }) => [term, { all: Number(all), fitting: Number(fitting) }]));
  return (term) => found.get(term) ?? { all: 0, fitting: 0 };
}
