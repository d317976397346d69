import type { Bits } from './search-levels.ts';
import type { Bind } from './search-sql.ts';

/** No agent, in a block. */
export const EMPTY = '0::bit(65536)';

/**
 * `hit`: block by block, the bits of those in all sets of `common` and in all of each group (`bits` for the first or only one, then
 * `part_0` and so on), without the agents that changed since the bits were written; these are the slots of `dirty`.
 */
export function hitsOf(common: readonly Bits[], groups: readonly (readonly Bits[])[], bind: Bind): string {
  const picks = picksOf(bind);
  const allOf = (bits: readonly Bits[]) => bits.map(picks.sqlOf).join(' & ');
  const [first = [], ...parts] = groups;
  const present = [...common, ...first].flatMap((each) =>
    'term' in each || 'start' in each ? [`${picks.nameOf(each)} is not null`] : [],
  );
  const names = ['bits', ...parts.map((_, index) => `part_${index}`)];
  const grouped = groups.map((group, index) => `, ${allOf(group)} as ${names[index]}`).join('');
  const clean = 'case when m.clean is null then base else base & m.clean end';
  // A substring is unpacked once and for all; the set itself would be, each time that someone looks into it.
  const narrowed = (name: string) =>
    `, substring(case when base is null then ${name} else ${name} & base end from 1) as ${name}`;
  return `dirty as materialized (select distinct slot from agent_toggle),
    mask as materialized (
      select slot >> 16 as block, ~bit_or(set_bit(${EMPTY}, slot & 65535, 1)) as clean from dirty group by slot >> 16
    ), base as materialized (
      select block${common.length === 0 ? '' : `, ${allOf(common)} as base`}${grouped} from (
        select block, ${EMPTY} as empty, ${picks.columns().join(', ')} from agent_bits where ${picks.where()} group by block
      ) k where ${present.length === 0 ? 'true' : present.join(' and ')}
    ), whole as materialized (
      select b.block, ${common.length === 0 ? 'm.clean' : clean} as base${groups.map((_, index) => `, ${names[index]}`).join('')}
        from base b left join mask m using (block)
    ), hit as materialized (
      select block${groups.length === 0 ? ', substring(base from 1) as bits' : groups.map((_, index) => narrowed(names[index] ?? '')).join('')} from whole
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
