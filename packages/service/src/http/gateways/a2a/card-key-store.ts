import type { Sql } from '../../../store/sql.ts';

export interface StoredCardKey {
  readonly id: string;
  readonly sealed: Buffer;
}

/** The key, which is this one if there was none, or the one of the id `before`. */
export async function keepCardKey(
  sql: Sql,
  key: StoredCardKey,
  before: string | null,
  now: Date,
): Promise<StoredCardKey> {
  await sql.query(
    'keep-card-key',
    `insert into card_key (id, sealed, created_at) values ($1, $2, $3)
     on conflict (is_only) do update set id = excluded.id, sealed = excluded.sealed, created_at = excluded.created_at
      where card_key.id = $4`,
    [key.id, key.sealed, now, before],
  );
  return (await findCardKey(sql)) ?? key;
}

export async function findCardKey(sql: Sql): Promise<StoredCardKey | null> {
  const [row] = await sql.query<StoredCardKey>('find-card-key', 'select id, sealed from card_key', []);
  return row ?? null;
}
