import { run, type Sql, type Statement } from '../../store/sql.ts';

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

/** Time without heartbeat (three beats) after which a process's keys may be taken over; every write to a key checks its process. */
const SILENT_FOR = `interval '6 seconds'`;

/** A key to take at a time, for a request of a caller. */
export interface KeyToTake extends HeldKey, KeyCaller {
  readonly fingerprint: Buffer;
  readonly now: Date;
}

/**
 * Takes each key for its process if it is free or older than `keptMs`, or, for the same request, if no answer was stored, its process is
 * gone, silent or this one, and the caller has the rights of the first one. Returns for each key, in the order given, null when not taken,
 * else whether the same request had it before. No key may be given twice.
 */
export async function takeKeys(
  sql: Sql,
  keys: readonly KeyToTake[],
  keptMs: number,
): Promise<({ readonly isRepeated: boolean } | null)[]> {
  const rows = await sql.query<Key & { isRepeated: boolean }>(
    'take-idempotency-keys',
    // Columns returned from the table itself show the state before the statement. Rows are locked in one order by all processes.
    `insert into idempotency as i (account_id, key, fingerprint, worker, created_at, caller_id, scopes)
     select account_id, key, fingerprint, worker, taken, caller_id, string_to_array(scopes, ' ')
       from unnest($1::text[], $2::text[], $3::bytea[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[])
         as n(account_id, key, fingerprint, worker, taken, caller_id, scopes)
      order by account_id, key
     on conflict (account_id, key) do update
        set fingerprint = excluded.fingerprint, worker = excluded.worker, created_at = excluded.created_at,
            caller_id = excluded.caller_id, scopes = excluded.scopes,
            answer_sealed = null, answer_headers = null, secret_sealed = null, secret_until = null
      where i.created_at < excluded.created_at - make_interval(secs => $8)
         or (i.answer_sealed is null and i.fingerprint = excluded.fingerprint
             and (i.caller_id = excluded.caller_id or i.scopes <@ excluded.scopes)
             and (i.worker = excluded.worker or not exists (
               select from process p where p.id = i.worker and p.seen_at > clock_timestamp() - ${SILENT_FOR})))
     returning i.account_id as "accountId", i.key, exists (
       select from idempotency b
        where b.account_id = i.account_id and b.key = i.key and b.created_at >= i.created_at - make_interval(secs => $8)
     ) as "isRepeated"`,
    [...keyParams(keys), keptMs / 1000],
  );
  const taken = new Map(rows.map((row) => [nameOf(row), { isRepeated: row.isRepeated }]));
  return keys.map((key) => taken.get(nameOf(key)) ?? null);
}

/** Flush statement that takes free keys. It fails if one exists. */
export const freeKeysTaken = (keys: readonly KeyToTake[]): Statement => ({
  name: 'take-free-idempotency-keys',
  text: `insert into idempotency (account_id, key, fingerprint, worker, created_at, caller_id, scopes)
     select account_id, key, fingerprint, worker, taken, caller_id, string_to_array(scopes, ' ')
       from unnest($1::text[], $2::text[], $3::bytea[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[])
         as n(account_id, key, fingerprint, worker, taken, caller_id, scopes)
      order by account_id, key`,
  params: keyParams(keys),
});

/** Takes free keys of requests with free ids. Returns for each whether it was taken, in the order given. */
export async function takeFreeKeys(
  sql: Sql,
  keys: readonly (KeyToTake & { readonly id: string })[],
): Promise<boolean[]> {
  if (keys.length === 0) return [];
  const rows = await sql.query<Key>(
    'take-free-idempotency-keys-of-new-calls',
    `insert into idempotency as i (account_id, key, fingerprint, worker, created_at, caller_id, scopes)
     select account_id, key, fingerprint, worker, taken, caller_id, string_to_array(scopes, ' ')
       from unnest($1::text[], $2::text[], $3::bytea[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[], $8::text[])
         as n(account_id, key, fingerprint, worker, taken, caller_id, scopes, request_id)
      where not exists (select from invocation v where v.id = n.request_id)
      order by account_id, key
     on conflict (account_id, key) do nothing
     returning i.account_id as "accountId", i.key`,
    [...keyParams(keys), keys.map(({ id }) => id)],
  );
  const taken = new Set(rows.map(nameOf));
  return keys.map((key) => taken.has(nameOf(key)));
}

const keyParams = (keys: readonly KeyToTake[]): unknown[] => [
  ...[keys.map((k) => k.accountId), keys.map((k) => k.key), keys.map((k) => k.fingerprint)],
  ...[keys.map((k) => k.worker), keys.map((k) => k.now), keys.map((k) => k.callerId)],
  keys.map((k) => k.scopes.join(' ')),
];

const nameOf = ({ accountId, key }: Key) => `${accountId} ${key}`;

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

/** True if the key has a row, or there is a request with this id. */
export async function isKeyUsed(sql: Sql, { accountId, key }: Key, requestIds: readonly string[]): Promise<boolean> {
  const [row] = await sql.query<{ isUsed: boolean }>(
    'is-idempotency-key-used',
    `select exists (select from idempotency where account_id = $1 and key = $2)
         or exists (select from invocation where id = any($3)) as "isUsed"`,
    [accountId, key, requestIds],
  );
  return row?.isUsed ?? false;
}

const isHeld = 'account_id = $1 and key = $2 and worker = $3';

export interface SealedAnswer {
  readonly sealed: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The secret to show once, and the time until which it is stored. */
  readonly secret?: { readonly sealed: Buffer; readonly until: Date } | null;
}

/** Stores the answer of a key that is still held; false when it is not. */
export async function storeAnswer(
  sql: Sql,
  { accountId, key, worker }: HeldKey,
  answer: SealedAnswer,
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

/** A key of an ended run, with the time of its taking: it may have been taken again since. */
export interface EndedKey extends HeldKey {
  readonly takenAt: Date;
}

/** An ended key with its caller and fingerprint. It may not have been taken. */
export interface LeftKey extends EndedKey, KeyCaller {
  readonly fingerprint: Buffer;
}

/** An answer for the run that took its key at this time: another may have taken it since. */
interface EndedRun {
  readonly held: EndedKey;
  readonly answer: SealedAnswer;
}

/** Stores answers under distinct keys, without secrets. Returns for each whether it was stored, in the order given. */
export async function storeAnswers(sql: Sql, answers: readonly EndedRun[]): Promise<boolean[]> {
  const rows = await run(sql, answersStored(answers));
  const stored = new Set(rows.map(nameOf));
  return answers.map(({ held }) => stored.has(nameOf(held)));
}

/** Statement that stores answers; see `storeAnswers`. */
export const answersStored = (answers: readonly EndedRun[]): Statement<Key> => ({
  name: 'store-idempotent-answers',
  text:
    // Rows are locked in the order in which keys are taken.
    `with held as (
       select i.account_id, i.key, n.sealed, n.headers
         from unnest($1::text[], $2::text[], $3::uuid[], $4::timestamptz[], $5::bytea[], $6::text[])
              as n(account_id, key, worker, taken, sealed, headers)
         join idempotency i using (account_id, key)
        where i.worker = n.worker and i.created_at <= n.taken order by i.account_id, i.key for no key update of i
     )
     update idempotency i
        set worker = null, answer_sealed = held.sealed, answer_headers = held.headers::json, secret_sealed = null, secret_until = null
       from held where i.account_id = held.account_id and i.key = held.key
     returning i.account_id as "accountId", i.key`,
  params: [
    ...[answers.map(({ held }) => held.accountId), answers.map(({ held }) => held.key)],
    ...[answers.map(({ held }) => held.worker), answers.map(({ held }) => held.takenAt)],
    answers.map(({ answer }) => answer.sealed),
    answers.map(({ answer }) => JSON.stringify(answer.headers)),
  ],
});

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

/**
 * Releases the keys of ended runs, and those with an unknown result of taking them. Each key has a row afterwards, so a transaction that
 * takes it later fails; one that is about to is waited for. Keys must be distinct.
 */
export async function releaseKeys(sql: Sql, keys: readonly LeftKey[]): Promise<void> {
  await sql.query(
    'release-left-keys',
    `insert into idempotency as i (account_id, key, fingerprint, created_at, caller_id, scopes)
     select account_id, key, fingerprint, taken, caller_id, string_to_array(scopes, ' ')
       from unnest($1::text[], $2::text[], $3::bytea[], $4::timestamptz[], $5::text[], $6::text[])
         as n(account_id, key, fingerprint, taken, caller_id, scopes)
      order by account_id, key
     on conflict (account_id, key) do update set worker = null
      where i.worker = any($7::uuid[]) and i.created_at <= excluded.created_at`,
    [
      ...[keys.map((k) => k.accountId), keys.map((k) => k.key), keys.map((k) => k.fingerprint)],
      ...[keys.map((k) => k.takenAt), keys.map((k) => k.callerId), keys.map((k) => k.scopes.join(' '))],
      [...new Set(keys.map((k) => k.worker))],
    ],
  );
}

/** Deletes a key: the run changed nothing that a repeat must not do again. */
export async function dropKey(sql: Sql, { accountId, key, worker }: HeldKey): Promise<void> {
  await sql.query('drop-idempotency-key', `delete from idempotency where ${isHeld}`, [accountId, key, worker]);
}

/** Deletes several keys. */
export async function dropKeys(sql: Sql, keys: readonly HeldKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql.query(
    'drop-idempotency-keys',
    `delete from idempotency i using unnest($1::text[], $2::text[], $3::uuid[]) as n(account_id, key, worker)
      where i.account_id = n.account_id and i.key = n.key and i.worker = n.worker`,
    [keys.map((k) => k.accountId), keys.map((k) => k.key), keys.map((k) => k.worker)],
  );
}

/** Deletes up to `most` keys taken before a time. Returns their number. */
export async function dropExpiredKeys(sql: Sql, before: Date, most: number): Promise<number> {
  const gone = await sql.query(
    'drop-expired-keys',
    // The condition stands outside too: a key that was taken anew meanwhile stays.
    `delete from idempotency where created_at < $1 and (account_id, key) in (
       select account_id, key from idempotency where created_at < $1 order by created_at limit $2)
     returning 1`,
    [before, most],
  );
  return gone.length;
}
