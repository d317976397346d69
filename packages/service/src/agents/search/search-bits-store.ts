import { crc32 } from 'node:zlib';
import type { Sql } from '../../db/sql.ts';
import type { SearchFilter } from './index/search-filter.ts';
import { everyAgent, filterBits } from './search-bits.ts';
import { EMPTY, hitsOf } from './search-hits.ts';
import { type Bits, type Head, lastOfStep } from './search-levels.ts';
import {
  afterClause,
  agentsWith,
  type Bind,
  bindTo,
  filtersOf,
  orderClause,
  type PageWish,
  priceFiltersOf,
  readShownAgents,
  type SearchPage,
  shownAgents,
  sortColumns,
} from './search-sql.ts';
import type { Walk } from './search-store.ts';

/** Agents by what is kept of them as bits, and the same as a question about one agent: for those whose bits are not up to date. */
export interface BitsQuestion {
  /** All of these, beside the filter. */
  readonly bits: readonly Bits[];
  /** A tsquery that says the same of terms; '' when nothing is asked of them. */
  readonly terms: string;
  /** Tsqueries that rank the match of a text. */
  readonly inTitle: string;
  readonly inName: string;
  readonly filter: SearchFilter;
}

/** Has its statements planned once, by way of the indexes: what the planner knows of terms would mislead it. */
export const planByBits = (tx: Sql): Promise<unknown> =>
  tx.query(
    'plan-search',
    `select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
            set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`,
  );

/**
 * Exact number of agents that match. `groups` are nested sets of agents: counts those of the matches that belong to all sets of each group;
 * none for every agent.
 */
export async function countByBits(tx: Sql, question: BitsQuestion, groups: readonly Bits[][]): Promise<number[]> {
  const params: unknown[] = [];
  const bind = bindTo(params);
  const names = namesOf(groups);
  const common = [...question.bits, ...filterBits(question.filter)];
  const [over, isOver] = overLimit(question.filter, bind);
  const sum = (name: string, index: number) => `
    (select coalesce(sum(bit_count(${name})), 0) from hit)
    ${isOver ? `- (select count(*) from over o where ${isIn(name, 'o.slot')})` : ''}
    + (select count(*) from late where relevance >= ${index})`;
  const text = `with ${hitsOf(groups.length === 0 ? withAnchor(common) : common, groups, bind)}, ${lateOf(question, [], bind)}${isOver ? `, ${gridOf(names)}, ${over}` : ''}
    select array[${names.map(sum).join(', ')}]::bigint[] as counts`;
  const [row] = await tx.query<{ counts: bigint[] }>(nameOf(text), text, params);
  return (row?.counts ?? []).map(Number);
}

export interface BitsPageQuery extends PageWish, BitsQuestion {
  /** Order in which to walk agents until the page is full; null to gather all matches and sort them. */
  readonly walk: Walk | null;
  /** Only those that match a text this well. */
  readonly relevance: number | null;
  /** Those that match a text somewhere, in the title, in the name; empty where the order does not ask how well they do. */
  readonly groups: readonly (readonly Bits[])[];
  /** Only those that come first; null for all. */
  readonly head: Head | null;
}

/** One page of the agents that match. */
export async function readBitsPage(tx: Sql, query: BitsPageQuery): Promise<SearchPage['agents']> {
  const params: unknown[] = [];
  const bind = bindTo(params);
  const { order, after, head } = query;
  const keys = sortColumns(order);
  // The inverted table tells itself whether its rows pass the filter.
  const bits = [...query.bits, ...(isListed(query.walk) ? [] : filterBits(query.filter)), ...(head ? [head.bits] : [])];
  const late = `${hitsOf(query.groups.length === 0 ? withAnchor(bits) : bits, query.groups, bind)}, ${lateOf(query, keys, bind)}`;
  const first = head ? `(${head.column} ${head.compares} ${bind(head.bound, 'bigint')}) is true` : 'true';
  const rest = `${first}${after ? ` and ${afterClause(order, after, bind)}` : ''}`;
  const most = bind(query.limit + query.offset, 'int');
  const source = query.walk ? walked(query, query.walk, bind) : gathered(query, bind);
  const ordered = `order by ${orderClause(order, '')} limit ${most}`;
  const text = `with ${late}, ${gridOf(namesOf(query.groups))}, page as (
      select * from (
        (select ${['agent_id', ...keys].join(', ')} from (${source}) f where ${rest} ${ordered}) union all
        (select ${['agent_id', ...keys].join(', ')} from late where ${rest}
            ${query.relevance === null ? '' : `and relevance = ${bind(query.relevance, 'int')}`} ${ordered})
      ) each order by ${orderClause(order, '')} limit ${bind(query.limit, 'int')} offset ${bind(query.offset, 'int')}
    ), counted as (select 0::bigint as total) ${shownAgents(order)}`;
  return (await readShownAgents(tx, nameOf(text), text, params)).agents;
}

const isListed = (walk: Walk | null) => walk !== null && typeof walk !== 'string';

const namesOf = (groups: readonly unknown[]) => ['bits', ...groups.slice(1).map((_, index) => `part_${index}`)];

/**
 * Exact number of matching agents for each of these terms: two sets of bits each, whatever the number of agents. Terms are capabilities,
 * words or homes.
 */
export async function countTermsByBits(
  tx: Sql,
  question: BitsQuestion,
  terms: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const params: unknown[] = [];
  const bind = bindTo(params);
  const [over, isOver] = overLimit(question.filter, bind);
  const hits = hitsOf(withAnchor([...question.bits, ...filterBits(question.filter)]), [], bind);
  const termsOf = (agents: string) => `cross join lateral unnest(tsvector_to_array(s.terms)) as term ${agents}`;
  const less = `union all select term, -1 from over o join agent_search s on s.slot = o.slot ${termsOf(`where ${isIn('bits', 'o.slot')}`)}`;
  const text = `with ${hits}, ${lateOf(question, [], bind)}${isOver ? `, ${gridOf(['bits'])}, ${over}` : ''}, changed as (
      select term collate "C" as term, sum(change) as change from (
        select term, 1 as change from late l join agent_search s on s.agent_id = l.agent_id ${termsOf('')}
        ${isOver ? less : ''}
      ) each group by 1
    )
    select t.term, (coalesce((select sum(bit_count(h.bits & coalesce(b.dense, b.sparse))) from hit h join agent_bits b using (block)
                               where b.term = t.term), 0)
                    + coalesce((select change from changed c where c.term = t.term), 0))::bigint as count
      from unnest(${bind(terms, 'text[]')} collate "C") as t(term)`;
  const rows = await tx.query<{ term: string; count: bigint }>(nameOf(text), text, params);
  return new Map(rows.map(({ term, count }) => [term, Number(count)]));
}

/** Adds the set of all agents where a question only excludes sets. */
const withAnchor = (bits: readonly Bits[]): readonly Bits[] =>
  bits.some((each) => 'term' in each || 'start' in each) ? bits : [everyAgent, ...bits];

const MAX_PREPARED = 300;
const prepared = new Set<string>();

/** Planning takes as long as many a search; but statements come in so many shapes that only the first ones are kept prepared. */
function nameOf(text: string): string {
  const name = `bits-${crc32(text)}`;
  if (prepared.size < MAX_PREPARED) prepared.add(name);
  return prepared.has(name) ? name : '';
}

const isIn = (name: string, slot: string) =>
  `get_bit((select ${name} from grid)[(${slot} >> 16) + 1], ${slot} & 65535) = 1`;

function walked(query: BitsPageQuery, walk: Walk, bind: Bind): string {
  const isIndexed = typeof walk !== 'string';
  const wanted = [isIn('bits', 'l.slot'), ...(isIndexed ? filtersOf : priceFiltersOf)(query.filter, bind)];
  if (isIndexed) wanted.push(`l.capability = ${bind(walk.capability, 'text')}`);
  // Without a key, agents are walked by their ids.
  const table = query.order.keys.length === 0 ? 'agent_search' : tableFor(query);
  return `select l.agent_id${columnsOf(query)} from ${isIndexed ? 'agent_listing' : table} l where ${wanted.join(' and ')}`;
}

/** The narrowest table that has what is sorted by; bits tell the rest, but for prices within the last step. */
function tableFor({
  order,
  filter,
}: BitsPageQuery): 'agent_listing' | 'agent_response' | 'agent_found' | 'agent_search' {
  const names = sortColumns(order).filter((name) => name !== 'relevance');
  if (names.every((name) => ['reputation', 'price_micro', 'per_hour_micro'].includes(name))) return 'agent_listing';
  const hasPrice = priceFiltersOf(filter, bindTo([])).length > 0;
  return names.join() === 'response_ms' && !hasPrice ? 'agent_response' : agentsWith(names);
}

/** The columns of the sort keys. A match in the name is one in the title. */
const columnsOf = ({ order, groups }: BitsPageQuery): string =>
  sortColumns(order)
    .map((name) => {
      if (name !== 'relevance') return `, l.${name}`;
      const levels = namesOf(groups).slice(1);
      return `, ${['0', ...levels.map((level) => `(${isIn(level, 'l.slot')})::int`)].join(' + ')} as relevance`;
    })
    .join('');

/** The slots of all bits: piece by piece, where one is not empty. */
function gathered(query: BitsPageQuery, bind: Bind): string {
  const table = tableFor(query);
  const wanted = [...priceFiltersOf(query.filter, bind), ...(table === 'agent_listing' ? [`l.capability = ''`] : [])];
  return `select l.agent_id${columnsOf(query)} from (
      select base + place as slot from (
        select base + (q.part << 6) as base, substring(piece from (q.part << 6) + 1 for 64) as bits from (
          select (h.block << 16) + (p.part << 10) as base, substring(h.bits from (p.part << 10) + 1 for 1024) as piece
            from hit h cross join generate_series(0, 63) as p(part) offset 0
        ) pieces cross join generate_series(0, 15) as q(part) where bit_count(piece) > 0 offset 0
      ) m cross join lateral (select place from generate_series(0, 63) as place where get_bit(m.bits, place) = 1 offset 0) each
       where bit_count(m.bits) > 0 offset 0
    ) m join ${table} l on l.slot = m.slot
    where ${wanted.length === 0 ? 'true' : wanted.join(' and ')}`;
}

const relevanceOf = ({ inName, inTitle }: BitsQuestion, bind: Bind) =>
  inName === ''
    ? '0 as relevance'
    : `case when l.terms @@ ${bind(inName, 'tsquery')} then 2 when l.terms @@ ${bind(inTitle, 'tsquery')} then 1 else 0 end as relevance`;

/** `late`: those that match among the agents that changed since the bits were written. */
function lateOf(question: BitsQuestion, keys: readonly string[], bind: Bind): string {
  const wanted = filtersOf(question.filter, bind);
  if (question.terms !== '') wanted.push(`l.terms @@ ${bind(question.terms, 'tsquery')}`);
  const columns = ['agent_id', ...keys.filter((key) => key !== 'relevance')].map((key) => `l.${key}`);
  return `late as materialized (select ${columns.join(', ')}, ${relevanceOf(question, bind)}
      from ${agentsWith(keys)} l where l.slot in (select slot from dirty)${wanted.map((each) => ` and ${each}`).join('')})`;
}

/** `grid`: bits as an array of blocks, in which a slot is looked up. */
const gridOf = (names: readonly string[]) => `grid as materialized (
    select ${names.map((name) => `array_agg(coalesce(h.${name}, ${EMPTY}) order by block) as ${name}`).join(', ')}
      from generate_series(0, (select max(block) from hit)) as block left join hit h using (block))`;

/** `over`: agents whose price is over a limit, but within the step that it ends in. */
function overLimit({ maxPriceMicro, maxPerHourMicro }: SearchFilter, bind: Bind): [text: string, isOver: boolean] {
  const parts: string[] = [];
  const within = (column: string, max: bigint) =>
    `select slot from agent_listing l where capability = '' and ${column} > ${bind(max, 'bigint')} and ${column} <= ${bind(lastOfStep(max), 'bigint')}`;
  if (maxPriceMicro !== null && maxPriceMicro < lastOfStep(maxPriceMicro))
    parts.push(within('price_micro', maxPriceMicro));
  if (maxPerHourMicro !== null && maxPerHourMicro < lastOfStep(maxPerHourMicro)) {
    const cheap = maxPriceMicro === null ? '' : ` and price_micro <= ${bind(maxPriceMicro, 'bigint')}`;
    parts.push(`${within('per_hour_micro', maxPerHourMicro)}${cheap}`);
  }
  return [`over as materialized (${parts.join(' union all ')})`, parts.length > 0];
}
