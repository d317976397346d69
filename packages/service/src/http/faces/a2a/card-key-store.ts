import type { Sql } from '../../../db/sql.ts';

export interface StoredCardKey {
  readonly id: string;
  readonly sealed: Buffer;
}

/** The key, which is this one if there was none. */
export async function keepCardKey(sql: Sql, key: StoredCardKey, now: Date): Promise<StoredCardKey> {
  await sql.query(
    'keep-card-key',
    'insert into card_key (id, sealed, created_at) values ($1, $2, $3) on conflict (is_only) do nothing',
    [key.id, key.sealed, now],
  );
  return (await findCardKey(sql)) ?? key;
}

export async function findCardKey(sql: Sql): Promise<StoredCardKey | null> {
  const [row] = await sql.query<StoredCardKey>('find-card-key', 'select id, sealed from card_key', []);
  return row ?? null;
}
