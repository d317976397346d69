import type { Sql } from '../db/sql.ts';

export interface IdempotencyRow {
  readonly fingerprint: Buffer;
  /** null while it runs, and for what is made again on every repetition. */
  readonly answerSealed: Buffer | null;
  readonly answerHeaders: Readonly<Record<string, string>> | null;
}

interface Key {
  readonly accountId: string;
  readonly key: string;
}

/** A key as the process has it that took it; later writes change nothing once another has taken it over. */
interface HeldKey extends Key {
  readonly worker: string;
}

/**
 * Takes the key for this process, if nobody has it, or it has expired, or, for the same request, if its answer was not kept and its
 * process is gone, or this one. Returns null when it did not, and else whether the same request had it before.
 */
export async function takeKey(
  sql: Sql,
  { accountId, key, worker }: HeldKey,
  run: { fingerprint: Buffer; now: Date; expiredBefore: Date },
): Promise<{ isRepeated: boolean } | null> {
  const rows = await sql.query<{ isRepeated: boolean }>(
    'take-idempotency-key',
    // What the statement returns of the table itself is from before it.
    `insert into idempotency as i (account_id, key, fingerprint, worker, created_at) values ($1, $2, $3, $4, $5)
     on conflict (account_id, key) do update
        set fingerprint = excluded.fingerprint, worker = excluded.worker, created_at = excluded.created_at,
            answer_sealed = null, answer_headers = null
      where i.created_at < $6
         or (i.answer_sealed is null and i.fingerprint = excluded.fingerprint
             and (i.worker = excluded.worker or not exists (select from process p where p.id = i.worker)))
     returning exists (
       select from idempotency b where b.account_id = $1 and b.key = $2 and b.created_at >= $6
     ) as "isRepeated"`,
    [accountId, key, run.fingerprint, worker, run.now, run.expiredBefore],
  );
  return rows[0] ?? null;
}

export async function findKey(sql: Sql, { accountId, key }: Key): Promise<IdempotencyRow | null> {
  const rows = await sql.query<IdempotencyRow>(
    'find-idempotency-key',
    `select fingerprint, answer_sealed as "answerSealed", answer_headers as "answerHeaders"
       from idempotency where account_id = $1 and key = $2`,
    [accountId, key],
  );
  return rows[0] ?? null;
}

const isHeld = 'account_id = $1 and key = $2 and worker = $3';

/** Stores the answer of a key that is still held; whether it was. */
export async function storeAnswer(
  sql: Sql,
  { accountId, key, worker }: HeldKey,
  answer: { sealed: Buffer; headers: Readonly<Record<string, string>> },
): Promise<boolean> {
  const rows = await sql.query(
    'store-idempotent-answer',
    `update idempotency set worker = null, answer_sealed = $4, answer_headers = $5 where ${isHeld} returning 1`,
    [accountId, key, worker, answer.sealed, JSON.stringify(answer.headers)],
  );
  return rows.length > 0;
}

/** Lets the same request run again under its key, and no other. */
export async function releaseKey(sql: Sql, { accountId, key, worker }: HeldKey): Promise<void> {
  await sql.query('release-key', `update idempotency set worker = null where ${isHeld}`, [accountId, key, worker]);
}

/** Gives a key back: what ran under it changed nothing that a repetition must not do again. */
export async function dropKey(sql: Sql, { accountId, key, worker }: HeldKey): Promise<void> {
  await sql.query('drop-idempotency-key', `delete from idempotency where ${isHeld}`, [accountId, key, worker]);
}

export async function dropExpiredKeys(sql: Sql, before: Date): Promise<void> {
  await sql.query('drop-expired-keys', 'delete from idempotency where created_at < $1', [before]);
}
