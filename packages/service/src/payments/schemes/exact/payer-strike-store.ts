import type { Sql, Tx } from '../../../store/sql.ts';

export interface Refused {
  readonly subject: string;
  readonly until: Date;
}

/** End of the back-off of each subject; subjects without one are left out. */
export const listRefused = (sql: Sql, subjects: readonly string[], now: Date): Promise<Refused[]> =>
  sql.query<Refused>(
    'list-refused-payers',
    `select subject, refused_until as until from payer_strike where subject = any($1) and refused_until > $2`,
    [subjects, now],
  );

/** Counts a strike for each subject, restarting counts older than `forgottenBefore`; returns the counts. Locks subjects in order. */
export const addStrikes = (
  tx: Tx,
  subjects: readonly string[],
  { now, forgottenBefore }: { now: Date; forgottenBefore: Date },
): Promise<{ subject: string; strikes: number }[]> =>
  tx.query(
    'add-payer-strikes',
    `insert into payer_strike as s (subject, strikes, last_at)
     select subject, count(*), $2::timestamptz from unnest($1::text[]) as n(subject) group by subject order by subject
     on conflict (subject) do update
       set strikes = excluded.strikes + case when s.last_at < $3 then 0 else s.strikes end, last_at = excluded.last_at
     returning subject, strikes`,
    [subjects, now, forgottenBefore],
  );

export const writeRefused = (tx: Tx, refused: readonly Refused[]): Promise<unknown> =>
  tx.query(
    'write-refused-payers',
    `update payer_strike s set refused_until = r.until from unnest($1::text[], $2::timestamptz[]) as r(subject, until)
      where s.subject = r.subject`,
    [refused.map(({ subject }) => subject), refused.map(({ until }) => until)],
  );

/** Removes up to `most` subjects without a strike since a time. Returns the number removed. */
export async function dropOldStrikes(sql: Sql, before: Date, most: number): Promise<number> {
  const gone = await sql.query(
    'drop-old-payer-strikes',
    `delete from payer_strike where last_at < $1 and subject in (
       select subject from payer_strike where last_at < $1 order by last_at limit $2)
     returning 1`,
    [before, most],
  );
  return gone.length;
}
