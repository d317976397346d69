import type { Sql } from '../db/sql.ts';

/** What a signature is for: to show that one holds the wallet, or to have a session withdraw. */
export type ChallengePurpose = 'proof' | 'withdrawal';

export interface StoredChallenge {
  readonly id: string;
  /** null: whoever holds the wallet signs in with it. */
  readonly accountId: string | null;
  /** null: it proves a wallet of the account's, whatever agents there are. */
  readonly agentId: string | null;
  readonly address: string;
  readonly message: string;
  readonly purpose: ChallengePurpose;
  /** What exactly a withdrawal may be. */
  readonly terms: string | null;
  readonly attempts: number;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

const columns = `id, account_id as "accountId", agent_id as "agentId", address, message, purpose, terms, attempts, expires_at as "expiresAt",
  used_at as "usedAt"`;

/** Stores a challenge, and forgets those of the account, or of all who sign in, that have expired. */
export async function insertChallenge(
  sql: Sql,
  challenge: Omit<StoredChallenge, 'attempts' | 'usedAt'> & { nonce: string; createdAt: Date },
): Promise<void> {
  await sql.query(
    'forget-challenges',
    'delete from wallet_challenge where account_id is not distinct from $1 and expires_at < $2',
    [challenge.accountId, challenge.createdAt],
  );
  await sql.query(
    'insert-challenge',
    `insert into wallet_challenge (id, account_id, agent_id, address, message, nonce, created_at, expires_at, purpose, terms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      challenge.id,
      challenge.accountId,
      challenge.agentId,
      challenge.address,
      challenge.message,
      challenge.nonce,
      challenge.createdAt,
      challenge.expiresAt,
      challenge.purpose,
      challenge.terms,
    ],
  );
}

/** Forgets all but the newest challenges that a wallet has for signing in. */
export async function keepNewestSignIns(sql: Sql, address: string, most: number): Promise<void> {
  await sql.query(
    'keep-newest-sign-ins',
    `delete from wallet_challenge where id in (
       select id from wallet_challenge where account_id is null and address = $1 order by created_at desc, id desc offset $2)`,
    [address, most],
  );
}

/** A challenge that was given to the account; null: to whoever signs in. */
export async function findChallenge(
  sql: Sql,
  { accountId, id, purpose }: Pick<StoredChallenge, 'accountId' | 'id' | 'purpose'>,
): Promise<StoredChallenge | null> {
  const rows = await sql.query<StoredChallenge>(
    'find-challenge',
    `select ${columns} from wallet_challenge where id = $1 and account_id is not distinct from $2 and purpose = $3`,
    [id, accountId, purpose],
  );
  return rows[0] ?? null;
}

/** Counts an attempt, if there is one left; whether there was. */
export async function takeAttempt(sql: Sql, id: string, most: number): Promise<boolean> {
  const rows = await sql.query(
    'take-attempt',
    'update wallet_challenge set attempts = attempts + 1 where id = $1 and attempts < $2 returning id',
    [id, most],
  );
  return rows.length > 0;
}

/** Gives an attempt back that could not be judged. */
export async function returnAttempt(sql: Sql, id: string): Promise<void> {
  await sql.query('return-attempt', 'update wallet_challenge set attempts = attempts - 1 where id = $1', [id]);
}

/** Uses the challenge up; whether this call was the first to. */
export async function useChallengeRow(sql: Sql, id: string, now: Date): Promise<boolean> {
  const rows = await sql.query(
    'use-challenge',
    'update wallet_challenge set used_at = $2 where id = $1 and used_at is null returning id',
    [id, now],
  );
  return rows.length > 0;
}
