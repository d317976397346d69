import type { Sql } from '../db/sql.ts';

export interface IdempotencyRow {
  readonly fingerprint: Buffer;
  /** null while it runs, and for what is made again on every repetition. */
  readonly answerSealed: Buffer | null;
}

interface Key {
  readonly accountId: string;
  readonly key: string;
}

/**
 * Takes the key for this process, if nobody has it, or it has expired, or, for the same request, if its process is gone or its
 * answer was not kept. Returns whether it did.
 */
export async function takeKey(
  sql: Sql,
  { accountId, key }: Key,
  run: { fingerprint: Buffer; worker: string; now: Date; expiredBefore: Date },
): Promise<boolean> {
  const rows = await sql.query(
    'take-idempotency-key',
    `insert into idempotency as i (account_id, key, fingerprint, worker, created_at) values ($1, $2, $3, $4, $5)
     on conflict (account_id, key) do update
        set fingerprint = excluded.fingerprint, worker = excluded.worker, created_at = excluded.created_at, answer_sealed = null
      where i.created_at < $6
         or (i.answer_sealed is null and i.fingerprint = excluded.fingerprint
             and not exists (select from process p where p.id = i.worker))
     returning 1`,
    [accountId, key, run.fingerprint, run.worker, run.now, run.expiredBefore],
  );
  return rows.length > 0;
}

export async function findKey(sql: Sql, { accountId, key }: Key): Promise<IdempotencyRow | null> {
  const rows = await sql.query<IdempotencyRow>(
    'find-idempotency-key',
    'select fingerprint, answer_sealed as "answerSealed" from idempotency where account_id = $1 and key = $2',
    [accountId, key],
  );
  return rows[0] ?? null;
}

export async function storeAnswer(sql: Sql, { accountId, key }: Key, answerSealed: Buffer): Promise<void> {
  await sql.query(
    'store-idempotent-answer',
    'update idempotency set worker = null, answer_sealed = $3 where account_id = $1 and key = $2',
    [accountId, key, answerSealed],
  );
}

/** Lets the same request run again under its key, and no other. */
export async function releaseKey(sql: Sql, { accountId, key }: Key): Promise<void> {
  await sql.query('release-key', 'update idempotency set worker = null where account_id = $1 and key = $2', [
    accountId,
    key,
  ]);
}

/** Gives a key back: what ran under it changed nothing that a repetition must not do again. */
export async function dropKey(sql: Sql, { accountId, key }: Key): Promise<void> {
  await sql.query('drop-idempotency-key', 'delete from idempotency where account_id = $1 and key = $2', [
    accountId,
    key,
  ]);
}

export async function dropExpiredKeys(sql: Sql, before: Date): Promise<void> {
  await sql.query('drop-expired-keys', 'delete from idempotency where created_at < $1', [before]);
}
