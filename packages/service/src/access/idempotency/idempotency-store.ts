import type { Sql } from '../../db/sql.ts';

export interface IdempotencyRow {
  readonly fingerprint: Buffer;
  /** null while it runs, and for what is made again on every repetition. */
  readonly answerSealed: Buffer | null;
  readonly answerHeaders: Readonly<Record<string, string>> | null;
  /** Who ran it last; null for what an older release stored. */
  readonly callerId: string | null;
  readonly scopes: readonly string[];
  /** Whether a secret of the answer has not been handed out yet. */
  readonly hasSecret: boolean;
}

/** Who asks, and what that caller may do. */
export interface KeyCaller {
  readonly callerId: string;
  readonly scopes: readonly string[];
}

interface Key {
  readonly accountId: string;
  readonly key: string;
}

/** A key as the process has it that took it; later writes change nothing once another has taken it over. */
export interface HeldKey extends Key {
  readonly worker: string;
}

/** A process that has not been seen for three beats: what it holds may be taken, as every write to a key names its process. */
const SILENT_FOR = `interval '6 seconds'`;

/**
 * Takes the key for this process, if nobody has it, or it has expired, or, for the same request, if its answer was not kept and its
 * process is gone, shows no sign of life, or is this one, and the caller may do what the one before might. Returns null when it did
 * not, and else whether the same request had it before.
 */
export async function takeKey(
  sql: Sql,
  { accountId, key, worker }: HeldKey,
  run: KeyCaller & { fingerprint: Buffer; now: Date; expiredBefore: Date },
): Promise<{ isRepeated: boolean } | null> {
  const rows = await sql.query<{ isRepeated: boolean }>(
    'take-idempotency-key',
    // What the statement returns of the table itself is from before it.
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

/** Stores the answer of a key that is still held; whether it was. */
export async function storeAnswer(
  sql: Sql,
  { accountId, key, worker }: HeldKey,
  answer: {
    sealed: Buffer;
    headers: Readonly<Record<string, string>>;
    /** What the answer shows once, and until when it is kept for that. */
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

/** Takes the secret out, for the caller who made it and in time: of several that ask, one gets it. */
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

/** Forgets secrets that nobody took in time. */
export async function dropSecrets(sql: Sql, now: Date): Promise<void> {
  await sql.query(
    'drop-idempotent-secrets',
    `update idempotency set secret_sealed = null, secret_until = null where secret_sealed is not null and secret_until <= $1`,
    [now],
  );
}

/** Lets the same request run again under its key, and no other. */
export async function releaseKey(sql: Sql, { accountId, key, worker }: HeldKey): Promise<void> {
  await sql.query('release-key', `update idempotency set worker = null where ${isHeld}`, [accountId, key, worker]);
}

/** A key of a run that has ended, and when that run took it: it may have been taken up again since. */
export interface LeftKey extends HeldKey {
  readonly takenAt: Date;
}

/** Releases keys of runs that have ended. */
export async function releaseKeys(sql: Sql, keys: readonly LeftKey[]): Promise<void> {
  await sql.query(
    'release-keys',
    `update idempotency i set worker = null from unnest($1::text[], $2::text[], $3::uuid[], $4::timestamptz[]) as n(account_id, key, worker, taken)
      where i.account_id = n.account_id and i.key = n.key and i.worker = n.worker and i.created_at <= n.taken`,
    [keys.map((k) => k.accountId), keys.map((k) => k.key), keys.map((k) => k.worker), keys.map((k) => k.takenAt)],
  );
}

/** Gives a key back: what ran under it changed nothing that a repetition must not do again. */
export async function dropKey(sql: Sql, { accountId, key, worker }: HeldKey): Promise<void> {
  await sql.query('drop-idempotency-key', `delete from idempotency where ${isHeld}`, [accountId, key, worker]);
}

export async function dropExpiredKeys(sql: Sql, before: Date): Promise<void> {
  await sql.query('drop-expired-keys', 'delete from idempotency where created_at < $1', [before]);
}
