import type { Sql } from '../../db/sql.ts';

export interface IdempotencyRow {
  readonly fingerprint: Buffer;
  /** null while it runs, and for answers that every repeat rebuilds. */
  readonly answerSealed: Buffer | null;
  readonly answerHeaders: Readonly<Record<string, string>> | null;
  /** The caller that ran it last; null for rows of an older release. */
  readonly callerId: string | null;
  readonly scopes: readonly string[];
  /** True when a secret of the answer has not been shown yet. */
  readonly hasSecret: boolean;
}

/** The caller and its rights. */
export interface KeyCaller {
  readonly callerId: string;
  readonly scopes: readonly string[];
}

interface Key {
  readonly accountId: string;
  readonly key: string;
}

/** A key as held by the process that took it; its writes have no effect once another process has taken the key over. */
export interface HeldKey extends Key {
  readonly worker: string;
}

/** Time without heartbeat (three beats) after which a process's keys may be taken over; every write to a key names its process. */
const SILENT_FOR = `interval '6 seconds'`;

/**
 * Takes the key for this process if it is free or expired, or, for the same request, if no answer was stored, its process is gone, silent
 * or this one, and the caller has the rights of the first one. Returns null when not taken, else whether the same request had it before.
 */
export async function takeKey(
  sql: Sql,
  { accountId, key, worker }: HeldKey,
  run: KeyCaller & { fingerprint: Buffer; now: Date; expiredBefore: Date },
): Promise<{ isRepeated: boolean } | null> {
  const rows = await sql.query<{ isRepeated: boolean }>(
    'take-idempotency-key',
    // Columns returned from the table itself show the state before the statement.
    `insert into idempotency as i (account_id, key, fingerprint, worker, created_at, caller_id, scopes)
     values ($1, $2, $3, $4, $5, $7, $8)
     on conflict (account_id, key) do update
        set fingerprint = excluded.fingerprint, worker = excluded.worker, created_at = excluded.created_at,
            caller_id = excluded.caller_id, scopes = excluded.scopes,
            answer_sealed = null, answer_headers = null, secret_sealed = null, secret_until = null
      where i.created_at < $6
         or (i.answer_sealed is null and i.fingerprint = excluded.fingerprint
             and (i.caller_id = excluded.caller_id or i.scopes <@ excluded.scopes)
             and (i.worker = excluded.worker or not exists (
               select from process p where p.id = i.worker and p.seen_at > clock_timestamp() - ${SILENT_FOR})))
     returning exists (
       select from idempotency b where b.account_id = $1 and b.key = $2 and b.created_at >= $6
     ) as "isRepeated"`,
    [accountId, key, run.fingerprint, worker, run.now, run.expiredBefore, run.callerId, run.scopes],
  );
  return rows[0] ?? null;
}

export async function findKey(sql: Sql, { accountId, key }: Key): Promise<IdempotencyRow | null> {
  const rows = await sql.query<IdempotencyRow>(
    'find-idempotency-key',
    `select fingerprint, answer_sealed as "answerSealed", answer_headers as "answerHeaders", caller_id as "callerId", scopes,
            secret_sealed is not null as "hasSecret"
       from idempotency where account_id = $1 and key = $2`,
    [accountId, key],
  );
  return rows[0] ?? null;
}

const isHeld = 'account_id = $1 and key = $2 and worker = $3';

/** Stores the answer of a key that is still held; false when it is not. */
export async function storeAnswer(
  sql: Sql,
  { accountId, key, worker }: HeldKey,
  answer: {
    sealed: Buffer;
    headers: Readonly<Record<string, string>>;
    /** The secret to show once, and the time until which it is stored. */
    secret?: { sealed: Buffer; until: Date } | null;
  },
): Promise<boolean> {
  const rows = await sql.query(
    'store-idempotent-answer',
    `update idempotency
        set worker = null, answer_sealed = $4, answer_headers = $5, secret_sealed = $6, secret_until = $7
      where ${isHeld} returning 1`,
    [
      ...[accountId, key, worker, answer.sealed, JSON.stringify(answer.headers)],
      ...[answer.secret?.sealed ?? null, answer.secret?.until ?? null],
    ],
  );
  return rows.length > 0;
}

/** Takes the secret out, for the caller that made it and in time: of several takers, one gets it. */
export async function takeSecret(
  sql: Sql,
  { accountId, key }: Key,
  { callerId, now }: { callerId: string; now: Date },
): Promise<Buffer | null> {
  const rows = await sql.query<{ sealed: Buffer }>(
    'take-idempotent-secret',
    `with kept as (
       select account_id, key, secret_sealed from idempotency
        where account_id = $1 and key = $2 and caller_id = $3 and secret_sealed is not null and secret_until > $4 for update
     )
     update idempotency i set secret_sealed = null, secret_until = null
       from kept where i.account_id = kept.account_id and i.key = kept.key
     returning kept.secret_sealed as sealed`,
    [accountId, key, callerId, now],
  );
  return rows[0]?.sealed ?? null;
}

/** Removes expired secrets. */
export async function dropSecrets(sql: Sql, now: Date): Promise<void> {
  await sql.query(
    'drop-idempotent-secrets',
    `update idempotency set secret_sealed = null, secret_until = null where secret_sealed is not null and secret_until <= $1`,
    [now],
  );
}

/** Releases the key for the same request only. */
export async function releaseKey(sql: Sql, { accountId, key, worker }: HeldKey): Promise<void> {
  await sql.query('release-key', `update idempotency set worker = null where ${isHeld}`, [accountId, key, worker]);
}

/** A key of an ended run, with the time of its taking: it may have been taken again since. */
export interface LeftKey extends HeldKey {
  readonly takenAt: Date;
}

/** Releases the keys of ended runs. */
export async function releaseKeys(sql: Sql, keys: readonly LeftKey[]): Promise<void> {
  await sql.query(
    'release-keys',
    `update idempotency i set worker = null from unnest($1::text[], $2::text[], $3::uuid[], $4::timestamptz[]) as n(account_id, key, worker, taken)
      where i.account_id = n.account_id and i.key = n.key and i.worker = n.worker and i.created_at <= n.taken`,
    [keys.map((k) => k.accountId), keys.map((k) => k.key), keys.map((k) => k.worker), keys.map((k) => k.takenAt)],
  );
}

/** Deletes a key: the run changed nothing that a repeat must not do again. */
export async function dropKey(sql: Sql, { accountId, key, worker }: HeldKey): Promise<void> {
  await sql.query('drop-idempotency-key', `delete from idempotency where ${isHeld}`, [accountId, key, worker]);
}

/** Deletes up to `most` keys taken before a time. Returns their number. */
export async function dropExpiredKeys(sql: Sql, before: Date, most: number): Promise<number> {
  const gone = await sql.query(
    'drop-expired-keys',
    `delete from idempotency where (account_id, key) in (
       select account_id, key from idempotency where created_at < $1 order by created_at limit $2)
     returning 1`,
    [before, most],
  );
  return gone.length;
}
