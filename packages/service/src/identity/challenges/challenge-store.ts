import type { Sql, Tx } from '../../db/sql.ts';

/** Rows that one use takes away of those that are no longer needed: more than it adds. */
const FORGOTTEN_AT_ONCE = 20;
/** Clocks of processes may differ by less than this. */
const KEPT_AFTER_MS = 3_600_000;

export async function isUsed(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.query('is-challenge-used', 'select from used_challenge where id = $1', [id]);
  return rows.length > 0;
}

/** Uses a challenge up; whether this call was the first to. Only what was signed comes here. */
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
