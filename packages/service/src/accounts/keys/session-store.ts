import type { Plan } from '@agent-network/contracts/access/access';
import type { Scope } from '@agent-network/contracts/access/scopes';
import type { Sql } from '../../store/sql.ts';

export interface SessionRow {
  keyId: string;
  name: string;
  accountId: string;
  address: string;
  plan: Plan;
  isWalletProven: boolean;
  isSuspended: boolean;
  node: 'online' | 'offline' | null;
  secretHash: Buffer;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  userAgent: string | null;
  isLocal: boolean;
  /** True when the account has a valid key with the scope `operator`. */
  isOperator: boolean;
}

const columns = `k.id as "keyId", k.name, k.account_id as "accountId", a.address, a.plan,
  a.wallet_proven_at is not null as "isWalletProven", a.suspended_at is not null as "isSuspended",
  (select n.status from network_node n where n.base_url = a.node_url and n.wallet = a.address and n.is_listed) as node,
  k.secret_hash as "secretHash", k.created_at as "createdAt", coalesce(k.last_used_at, k.created_at) as "lastSeenAt",
  k.expires_at as "expiresAt", k.revoked_at as "revokedAt", k.user_agent as "userAgent", k.is_local as "isLocal",
  exists (select from api_key o where o.account_id = a.id and o.kind = 'key' and o.scopes @> array['operator']
           and o.revoked_at is null and (o.expires_at is null or o.expires_at > $2)) as "isOperator"`;

export const findSessions = (sql: Sql, sessionIds: readonly string[], now: Date): Promise<SessionRow[]> =>
  sql.query<SessionRow>(
    'find-sessions',
    `select ${columns} from api_key k join account a on a.id = k.account_id where k.id = any($1) and k.kind = 'session'`,
    [sessionIds, now],
  );

/** The account's sessions that were not ended and were used since `seenAfter`, newest first. */
export const listSessionRows = (sql: Sql, accountId: string, now: Date, seenAfter: Date): Promise<SessionRow[]> =>
  sql.query<SessionRow>(
    'list-sessions',
    `select ${columns} from api_key k join account a on a.id = k.account_id
      where k.account_id = $1 and k.kind = 'session' and k.revoked_at is null and k.expires_at > $2
        and coalesce(k.last_used_at, k.created_at) > $3
      order by k.created_at desc, k.id desc limit 1000`,
    [accountId, now, seenAfter],
  );

export async function insertSession(
  sql: Sql,
  session: {
    id: string;
    accountId: string;
    secretHash: Buffer;
    scopes: readonly Scope[];
    userAgent: string | null;
    isLocal: boolean;
    now: Date;
    expiresAt: Date;
  },
): Promise<void> {
  await sql.query(
    'insert-session',
    `insert into api_key (id, account_id, name, start, secret_hash, scopes, created_at, last_used_at, expires_at, kind, user_agent, is_local)
     values ($1, $2, 'session', '', $3, $4, $5, $5, $6, 'session', $7, $8)`,
    [
      session.id,
      session.accountId,
      session.secretHash,
      session.scopes,
      session.now,
      session.expiresAt,
      session.userAgent,
      session.isLocal,
    ],
  );
}

/** Ends a valid session of the account; null: all. Returns their number. */
export async function endSessionRows(
  sql: Sql,
  accountId: string,
  sessionId: string | null,
  now: Date,
): Promise<number> {
  const rows = await sql.query(
    'end-sessions',
    `update api_key set revoked_at = $3
      where account_id = $1 and kind = 'session' and ($2::text is null or id = $2) and revoked_at is null returning id`,
    [accountId, sessionId, now],
  );
  return rows.length;
}

/** Ends all but the newest sessions of an account. */
export async function keepNewestSessions(sql: Sql, accountId: string, most: number, now: Date): Promise<void> {
  await sql.query(
    'keep-newest-sessions',
    `update api_key set revoked_at = $3 where id in (
       select id from api_key where account_id = $1 and kind = 'session' and revoked_at is null
        order by created_at desc, id desc offset $2)`,
    [accountId, most, now],
  );
}

/** Removes up to `most` sessions that began before a time. Returns their number. */
export async function dropSessions(sql: Sql, before: Date, most: number): Promise<number> {
  const gone = await sql.query(
    'drop-sessions',
    `delete from api_key where id in (
       select id from api_key where kind = 'session' and created_at < $1 order by created_at limit $2)
     returning 1`,
    [before, most],
  );
  return gone.length;
}
