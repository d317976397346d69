import type { Sql, Tx } from '../../store/sql.ts';

/** Number of expired rows that one use deletes: more than it adds. */
const FORGOTTEN_AT_ONCE = 20;
/** Upper bound of the clock difference between processes. */
const KEPT_AFTER_MS = 3_600_000;

export async function isUsed(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.query('is-challenge-used', 'select from used_challenge where id = $1', [id]);
  return rows.length > 0;
}

/** Uses up a challenge; true for the first call only. Called only for signed challenges. */
export async function useOnce(
  tx: Tx,
  id: string,
  { expiresAt, now }: { expiresAt: Date; now: Date },
): Promise<boolean> {
  await tx.query(
    'forget-used-challenges',
    `delete from used_challenge where id in (
       select id from used_challenge where expires_at < $1 order by expires_at limit $2 for update skip locked)`,
    [new Date(now.getTime() - KEPT_AFTER_MS), FORGOTTEN_AT_ONCE],
  );
  const rows = await tx.query(
    'use-challenge',
    'insert into used_challenge (id, expires_at) values ($1, $2) on conflict do nothing returning id',
    [id, expiresAt],
  );
  return rows.length > 0;
}
