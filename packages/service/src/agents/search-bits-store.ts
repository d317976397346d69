import { crc32 } from 'node:zlib';
import type { Sql } from '../db/sql.ts';
import { type Bits, everyAgent, filterBits, lastOfStep } from './search-bits.ts';
import type { SearchFilter } from './search-filter.ts';
import {
  afterClause,
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
  /** All of these, beside the filter; none stands for every agent. */
  readonly bits: readonly Bits[];
  /** A tsquery that says the same of terms; '' when nothing is asked of them. */
  readonly terms: string;
  /** What tells how well a text is matched: tsqueries. */
  readonly inTitle: string;
  readonly inName: string;
  readonly filter: SearchFilter;
}

const EMPTY = '0::bit(65536)';

/** Has its statements planned once, by way of the indexes: what the planner knows of terms would mislead it. */
export const planByBits = (tx: Sql): Promise<unknown> =>
  tx.query(
    'plan-search',
    `select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
            set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`,
  );

/** How many agents match, exactly; and of these, how many belong to each of the further sets. */
export async function countByBits(tx: Sql, question: BitsQuestion, parts: readonly Bits[][]): Promise<number[]> {
  const params: unknown[] = [];
  const bind = bindTo(params);
  const names = ['bits', ...parts.map((_, index) => `part_${index}`)];
  const [over, isOver] = overLimit(question.filter, bind);
  const sum = (name: string, index: number) => `
    (select coalesce(sum(bit_count(${name})), 0) from hit)
    ${isOver ? `- (select count(*) from over o where ${isIn(name, 'o.slot')})` : ''}
    + (select count(*) from late where relevance >= ${index})`;
  const text = `with ${hitsOf([...question.bits, ...filterBits(question.filter)], parts, bind)}, ${lateOf(question, [], bind)}${isOver ? `, ${gridOf(names)}, ${over}` : ''}
    select array[${names.map(sum).join(', ')}]::bigint[] as counts`;
  const [row] = await tx.query<{ counts: bigint[] }>(nameOf(text), text, params);
  return (row?.counts ?? []).map(Number);
}

export interface BitsPageQuery extends PageWish, BitsQuestion {
  /** In which order to look at agents until there are enough; null to gather all that match, and sort them. */
  readonly walk: Walk | null;
  /** Only those that match a text this well. */
  readonly relevance: number | null;
}

/** One page of the agents that match. */
export async function readBitsPage(tx: Sql, query: BitsPageQuery): Promise<SearchPage['agents']> {
  const params: unknown[] = [];
  const bind = bindTo(params);
  const { order, after } = query;
  const keys = sortColumns(order);
  // The inverted table tells itself whether its rows pass the filter.
  const bits = isListed(query.walk) ? query.bits : [...query.bits, ...filterBits(query.filter)];
  const late = `${hitsOf(bits, [], bind)}, ${lateOf(query, keys, bind)}`;
  const rest = after ? afterClause(order, after, bind) : 'true';
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

const isListed = (walk: Walk | null) => walk !== null && walk !== 'agents';

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

function walked({ order, filter }: BitsPageQuery, walk: Walk, bind: Bind): string {
  const wanted = [isIn('bits', 'l.slot'), ...(walk === 'agents' ? priceFiltersOf : filtersOf)(filter, bind)];
  if (walk !== 'agents') wanted.push(`l.capability = ${bind(walk.capability, 'text')}`);
  return `select l.agent_id, ${sortColumns(order).join(', ')} from ${walk === 'agents' ? 'agent_search' : 'agent_listing'} l
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
    ) m join ${isNarrow ? 'agent_listing' : 'agent_search'} l on l.slot = m.slot
     where m.nth <= m.ones${wanted.map((each) => ` and ${each}`).join('')}`;
}

const relevanceOf = ({ inName, inTitle }: BitsQuestion, bind: Bind) =>
  inName === ''
    ? '0 as relevance'
    : `case when l.terms @@ ${bind(inName, 'tsquery')} then 2 when l.terms @@ ${bind(inTitle, 'tsquery')} then 1 else 0 end as relevance`;

/** `hit`: the bits of those that match, block by block, without the agents that changed since the bits were written. */
function hitsOf(bits: readonly Bits[], parts: readonly Bits[][], bind: Bind): string {
  const picks = picksOf(bind);
  const isAnchored = bits.some((each) => 'term' in each || 'start' in each);
  const needed = isAnchored ? bits : [everyAgent, ...bits];
  const whole = needed.map(picks.sqlOf).join(' & ');
  const further = parts.map((part, index) => `, ${part.map(picks.sqlOf).join(' & ')} as part_${index}`).join('');
  const present = needed.flatMap((each) =>
    'term' in each || 'start' in each ? [`${picks.nameOf(each)} is not null`] : [],
  );
  return `dirty as materialized (select distinct slot from agent_toggle),
    mask as materialized (
      select slot >> 16 as block, ~bit_or(set_bit(${EMPTY}, slot & 65535, 1)) as clean from dirty group by slot >> 16
    ), kept as materialized (
      select block, ${EMPTY} as empty, ${picks.columns().join(', ')} from agent_bits where ${picks.where()} group by block
    ), whole as materialized (
      select k.block, ${whole} & coalesce(m.clean, ~empty) as bits${further}
        from kept k left join mask m using (block) where ${present.join(' and ')}
    ), hit as materialized (
      select block, bits${parts.map((_, index) => `, bits & part_${index} as part_${index}`).join('')} from whole
    )`;
}

type KeptBits = Extract<Bits, { term: string } | { start: string }>;

/** The columns of `kept`: each set that is named once, whatever the rows it is kept in. */
function picksOf(bind: Bind) {
  const picks = new Map<string, { readonly name: string; readonly rows: string }>();
  const terms: string[] = [];
  const starts: string[] = [];
  const nameOf = (bits: KeptBits): string => {
    const key = JSON.stringify(bits);
    const known = picks.get(key);
    if (known) return known.name;
    const isTerm = 'term' in bits;
    const rows = isTerm ? `term = ${bind(bits.term, 'text')}` : startsWith(bits.start, bind);
    (isTerm ? terms : starts).push(isTerm ? bits.term : rows);
    const name = `b${picks.size}`;
    picks.set(key, { name, rows });
    return name;
  };
  const sqlOf = (bits: Bits): string => {
    if ('all' in bits) return `(${bits.all.map(sqlOf).join(' & ')})`;
    if ('any' in bits) return `(${bits.any.map(sqlOf).join(' | ')})`;
    return 'not' in bits ? `~${sqlOf(bits.not)}` : `coalesce(${nameOf(bits)}, empty)`;
  };
  return {
    nameOf,
    sqlOf,
    columns: () =>
      [...picks.values()].map(({ name, rows }) => `bit_or(coalesce(dense, sparse)) filter (where ${rows}) as ${name}`),
    where: () => [`term = any(${bind(terms, 'text[]')})`, ...starts].join(' or '),
  };
}

const startsWith = (start: string, bind: Bind) =>
  `(term >= ${bind(start, 'text')} and term < ${bind(`${start}\u{10ffff}`, 'text')})`;

/** `late`: those that match among the agents that changed since the bits were written. */
function lateOf(question: BitsQuestion, keys: readonly string[], bind: Bind): string {
  const wanted = filtersOf(question.filter, bind);
  if (question.terms !== '') wanted.push(`l.terms @@ ${bind(question.terms, 'tsquery')}`);
  const columns = ['agent_id', ...keys.filter((key) => key !== 'relevance')].map((key) => `l.${key}`);
  return `late as materialized (select ${columns.join(', ')}, ${relevanceOf(question, bind)}
      from agent_search l where l.slot in (select slot from dirty)${wanted.map((each) => ` and ${each}`).join('')})`;
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
