import type { Sql } from '../sql.ts';

export interface RecurringClaim {
  readonly name: string;
  /** Time for which the work belongs to the claiming process. */
  readonly holdMs: number;
  /** Time before it is due at which it may be claimed, together with others. */
  readonly earlyMs: number;
  /** Work that no process has claimed before is due after this time; 0: at once. */
  readonly firstMs: number;
}

export interface Claimed {
  readonly name: string;
  /** Due time that this process set, as the database wrote it; null: it is not due, or another process has it. */
  readonly due: string | null;
  /** Time until it is due, if it was not claimed; 0: it is being claimed elsewhere. */
  readonly untilMs: number;
}

/**
 * Claims due work of several kinds; one process gets each. A due time later than a new claim would write comes from a clock that was put
 * back since, or from another interval: that work is due as well.
 */
export const claimRecurring = (sql: Sql, wanted: readonly RecurringClaim[]): Promise<Claimed[]> =>
  sql.query<Claimed>(
    'recurring-claim',
    `with wanted as (
       select * from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[]) as w(name, hold_ms, early_ms, first_ms)
     ), due as (
       select r.name from recurring r join wanted w using (name)
        where r.due_at <= clock_timestamp() + w.early_ms * interval '1 millisecond'
           or r.due_at > clock_timestamp() + 2 * w.hold_ms * interval '1 millisecond' for update of r skip locked
     ), claimed as (
       update recurring r set due_at = clock_timestamp() + w.hold_ms * interval '1 millisecond'
         from wanted w where w.name = r.name and r.name in (select name from due)
       returning r.name, r.due_at
     ), added as (
       insert into recurring (name, due_at)
       select name, clock_timestamp() + case when first_ms > 0 then first_ms else hold_ms end * interval '1 millisecond' from wanted
        where name not in (select name from recurring) order by name
       on conflict do nothing returning name, due_at
     )
     select w.name, coalesce(c.due_at, case when w.first_ms = 0 then a.due_at end)::text as due,
            greatest(0, extract(epoch from coalesce(a.due_at, r.due_at) - clock_timestamp()) * 1000)::float8 as "untilMs"
       from wanted w left join claimed c using (name) left join added a using (name) left join recurring r using (name)`,
    [
      wanted.map(({ name }) => name),
      wanted.map(({ holdMs }) => holdMs),
      wanted.map(({ earlyMs }) => earlyMs),
      wanted.map(({ firstMs }) => firstMs),
    ],
  );

export interface GivenBack {
  readonly name: string;
  /** Due time that this process set. */
  readonly due: string;
  /** Time by which the work is due earlier now. */
  readonly earlierMs: number;
}

/** Makes work that this process has claimed due earlier, unless another process has claimed it since. */
export async function giveBackRecurring(sql: Sql, given: readonly GivenBack[]): Promise<void> {
  await sql.query(
    'recurring-give-back',
    `update recurring r set due_at = r.due_at - g.earlier_ms * interval '1 millisecond'
       from unnest($1::text[], $2::text[], $3::float8[]) as g(name, due, earlier_ms)
      where r.name = g.name and r.due_at = g.due::timestamptz`,
    [given.map(({ name }) => name), given.map(({ due }) => due), given.map(({ earlierMs }) => earlierMs)],
  );
}
