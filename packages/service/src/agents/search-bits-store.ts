import { crc32 } from 'node:zlib';
import type { Sql } from '../db/sql.ts';
import { everyAgent, filterBits } from './search-bits.ts';
import type { SearchFilter } from './search-filter.ts';
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
  /** What tells how well a text is matched: tsqueries. */
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
 * How many agents match, exactly. `groups` are sets of agents, each part of the one before: how many of those that match belong to
 * all sets of each group; none for every agent.
 */
export async function countByBits(tx: Sql, question: BitsQuestion, groups: readonly Bits[][]): Promise<number[]> {
  const params: unknown[] = [];
  const bind = bindTo(params);
  const names = ['bits', ...groups.slice(1).map((_, index) => `part_${index}`)];
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
  /** In which order to look at agents until there are enough; null to gather all that match, and sort them. */
  readonly walk: Walk | null;
  /** Only those that match a text this well. */
  readonly relevance: number | null;
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
  const late = `${hitsOf(withAnchor(bits), [], bind)}, ${lateOf(query, keys, bind)}`;
  const first = head ? `(${head.column} ${head.compares} ${bind(head.bound, 'bigint')}) is true` : 'true';
  const rest = `${first}${after ? ` and ${afterClause(order, after, bind)}` : ''}`;
  const most = bind(query.limit + query.offset, 'int');
  const source = query.walk ? walked(query, query.walk, bind) : gathered(query, bind);
  const ordered = `order by ${orderClause(order, '')} limit ${most}`;
  const text = `with ${late}, ${gridOf(['bits'])}, page as (
      select * from (
        (select agent_id, ${keys.join(', ')} from (${source}) f where ${rest} ${ordered}) union all
        (select agent_id, ${keys.join(', ')} from late where ${rest}
            ${query.relevance === null ? '' : `and relevance = ${bind(query.relevance, 'int')}`} ${ordered})
      ) each order by ${orderClause(order, '')} limit ${bind(query.limit, 'int')} offset ${bind(query.offset, 'int')}
    ), counted as (select 0::bigint as total) ${shownAgents(order)}`;
  return (await readShownAgents(tx, nameOf(text), text, params)).agents;
}

const isListed = (walk: Walk | null) => walk !== null && typeof walk !== 'string';

/** What is only left out of other sets has to be left out of all agents. */
const withAnchor = (bits: readonly Bits[]): readonly Bits[] =>
  bits.some((each) => 'term' in each || 'start' in each) ? bits : [everyAgent, ...bits];

const MOST_PREPARED = 300;
const prepared = new Set<string>();

/** Planning takes as long as many a search; but statements come in so many shapes that only the first ones are kept prepared. */
function nameOf(text: string): string {
  const name = `bits-${crc32(text)}`;
  if (prepared.size < MOST_PREPARED) prepared.add(name);
  return prepared.has(name) ? name : '';
}

const isIn = (name: string, slot: string) =>
  `get_bit((select ${name} from grid)[(${slot} >> 16) + 1], ${slot} & 65535) = 1`;

function walked(query: BitsPageQuery, walk: Walk, bind: Bind): string {
  const { filter } = query;
  const names = sortColumns(query.order);
  const isIndexed = typeof walk !== 'string';
  const wanted = [isIn('bits', 'l.slot'), ...(isIndexed ? filtersOf : priceFiltersOf)(filter, bind)];
  if (isIndexed) wanted.push(`l.capability = ${bind(walk.capability, 'text')}`);
  const isNarrow = names.join() === 'response_ms' && priceFiltersOf(filter, bindTo([])).length === 0;
  const all = isNarrow ? 'agent_response' : agentsWith(names);
  return `select l.agent_id, ${names.map((name) => (name === 'relevance' ? relevanceOf(query, bind) : `l.${name}`)).join(', ')} from ${isIndexed ? 'agent_listing' : all} l
    where ${wanted.join(' and ')}`;
}

/** The slots of all bits: where a piece is not empty, the runs of zeros between its ones add up to the place of each. */
function gathered(query: BitsPageQuery, bind: Bind): string {
  const names = sortColumns(query.order);
  const isNarrow = names.every((name) => ['reputation', 'price_micro', 'per_hour_micro'].includes(name));
  const columns = names.map((name) => (name === 'relevance' ? relevanceOf(query, bind) : `l.${name}`));
  const wanted = [...priceFiltersOf(query.filter, bind), ...(isNarrow ? [`l.capability = ''`] : [])];
  return `select l.agent_id, ${columns.join(', ')} from (
      select base + (sum(length(run) + 1) over (partition by base order by nth))::int - 1 as slot, nth, bit_count(piece) as ones from (
        select (h.block << 16) + (p.part << 10) as base, substring(h.bits from (p.part << 10) + 1 for 1024) as piece
          from hit h cross join generate_series(0, 63) as p(part) offset 0
      ) pieces cross join unnest(string_to_array(piece::text, '1')) with ordinality as r(run, nth)
       where bit_count(piece) > 0
    ) m join ${isNarrow ? 'agent_listing' : agentsWith(names)} l on l.slot = m.slot
     where m.nth <= m.ones${wanted.map((each) => ` and ${each}`).join('')}`;
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
