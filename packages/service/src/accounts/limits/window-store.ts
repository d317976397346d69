import type { Sql } from '../../store/sql.ts';
import type { CountedClass } from './rate-limit.ts';

/** The subject of a limit and the class of calls that it counts. */
export interface Window {
  readonly subject: string;
  readonly limitClass: CountedClass;
}

export interface LeaseRequest extends Window {
  readonly limit: number;
  readonly wanted: number;
}

export interface WindowLease {
  readonly granted: number;
  readonly used: number;
  readonly startedAt: Date;
}

/**
 * Takes up to `wanted` calls from each of different windows; starts a new window when the old one has ended. Rows are locked in one order,
 * so that two processes can't deadlock.
 */
export async function leaseCalls(sql: Sql, requests: readonly LeaseRequest[], now: Date): Promise<WindowLease[]> {
  const rows = await sql.query<WindowLease & Window>(
    'lease-calls',
    `insert into rate_window as w (subject, class, started_at, used, granted, most)
     select subject, class, $5, least(wanted, most), least(wanted, most), most
       from unnest($1::text[], $2::text[], $3::int[], $4::int[]) as n(subject, class, most, wanted) order by subject, class
     on conflict (subject, class) do update set
       most = excluded.most,
       started_at = case when w.started_at <= $5 - interval '1 hour' then $5 else w.started_at end,
       used = case when w.started_at <= $5 - interval '1 hour' then excluded.used
                   else w.used + greatest(0, least(excluded.used, excluded.most - w.used)) end,
       granted = case when w.started_at <= $5 - interval '1 hour' then excluded.used
                      else greatest(0, least(excluded.used, excluded.most - w.used)) end
     returning subject, class as "limitClass", granted, used, started_at as "startedAt"`,
    [
      requests.map(({ subject }) => subject),
      requests.map(({ limitClass }) => limitClass),
      requests.map(({ limit }) => limit),
      requests.map(({ wanted }) => wanted),
      now,
    ],
  );
  const found = new Map(rows.map((row) => [nameOf(row), row]));
  return requests.map((request) => found.get(nameOf(request)) as WindowLease);
}

/** Name of a window, unique among all. */
export const nameOf = ({ subject, limitClass }: Window): string => `${limitClass} ${subject}`;

/** The subject's window, current or ended. */
export async function findWindow(
  sql: Sql,
  { subject, limitClass }: Window,
): Promise<{ used: number; startedAt: Date } | undefined> {
  const rows = await sql.query<{ used: number; startedAt: Date }>(
    'find-window',
    'select used, started_at as "startedAt" from rate_window where subject = $1 and class = $2',
    [subject, limitClass],
  );
  return rows[0];
}

export interface ReturnedCall extends Window {
  readonly startedAt: Date;
}

/** Returns calls to the windows that they were taken from; no effect on later windows. Locks in the order of `leaseCalls`. */
export async function returnCalls(sql: Sql, calls: readonly ReturnedCall[]): Promise<void> {
  await sql.query(
    'return-calls',
    `with returned as (
       select subject, class, started_at, count(*) as count
         from unnest($1::text[], $2::text[], $3::timestamptz[]) as n(subject, class, started_at) group by subject, class, started_at
     ), locked as (
       select w.subject, w.class, w.started_at, r.count from rate_window w join returned r using (subject, class, started_at)
        order by w.subject, w.class for no key update of w
     )
     update rate_window w set used = greatest(0, w.used - l.count) from locked l
      where w.subject = l.subject and w.class = l.class and w.started_at = l.started_at`,
    [
      calls.map(({ subject }) => subject),
      calls.map(({ limitClass }) => limitClass),
      calls.map(({ startedAt }) => startedAt),
    ],
  );
}

/** Removes windows that began before a time. Returns their number. */
export async function dropWindows(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'drop-windows',
    `delete from rate_window where (subject, class) in (
       select subject, class from rate_window where started_at < $1 order by started_at limit $2) and started_at < $1 returning 1`,
    [before, most],
  );
  return rows.length;
}
