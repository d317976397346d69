import type { Plan } from '@agent-network/contracts/access/access';
import type { Scope } from '@agent-network/contracts/access/scopes';
import type { Sql } from '../../store/sql.ts';
import { nodeOfAccount } from '../listed-node.ts';

export interface ApiKeyRow {
  keyId: string;
  name: string;
  accountId: string;
  address: string;
  plan: Plan;
  scopes: Scope[];
  isWalletProven: boolean;
  isSuspended: boolean;
  node: 'online' | 'offline' | null;
  secretHash: Buffer;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  budgetId: string;
  perCallMicro: bigint | null;
  perDayMicro: bigint | null;
  allowedAgents: string[] | null;
}

export const findApiKeys = (sql: Sql, keyIds: readonly string[]): Promise<ApiKeyRow[]> =>
  sql.query<ApiKeyRow>(
    'find-api-keys',
    `select k.id as "keyId", k.name, k.account_id as "accountId", a.address, a.plan, k.scopes,
            a.wallet_proven_at is not null as "isWalletProven", a.suspended_at is not null as "isSuspended",
            ${nodeOfAccount} as node,
            k.secret_hash as "secretHash", k.expires_at as "expiresAt", k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt",
            coalesce(k.budget_id, k.id) as "budgetId", k.per_call_micro as "perCallMicro", k.per_day_micro as "perDayMicro",
            k.allowed_agents as "allowedAgents"
       from api_key k join account a on a.id = k.account_id
      where k.id = any($1) and k.kind = 'key'`,
    [keyIds],
  );

export async function listLiving(
  sql: Sql,
  keyIds: readonly string[],
  { now, seenAfter }: { now: Date; seenAfter: Date },
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-living-keys',
    `select id from api_key where id = any($1) and revoked_at is null and (expires_at is null or expires_at > $2)
        and (kind = 'key' or coalesce(last_used_at, created_at) > $3)`,
    [keyIds, now, seenAfter],
  );
  return rows.map(({ id }) => id);
}

/** Records the use of a key or session, at most once a minute; returns whether it was recorded. */
export async function touchApiKey(sql: Sql, keyId: string, now: Date): Promise<boolean> {
  const rows = await sql.query(
    'touch-api-key',
    `update api_key set last_used_at = $2
      where id = $1 and (last_used_at is null or last_used_at < $2::timestamptz - interval '1 minute') returning id`,
    [keyId, now],
  );
  return rows.length > 0;
}

export interface AgentTokenRow {
  agentId: string;
  accountId: string;
  plan: Plan;
  isSuspended: boolean;
  node: ApiKeyRow['node'];
  address: string;
  /** In hex. */
  tokenHash: string;
}

export const findAgentsByToken = (sql: Sql, tokenHashes: readonly string[]): Promise<AgentTokenRow[]> =>
  sql.query<AgentTokenRow>(
    'find-agents-by-token',
    `select g.id as "agentId", g.account_id as "accountId", a.plan, a.address,
            a.suspended_at is not null as "isSuspended", ${nodeOfAccount} as node, encode(g.token_hash, 'hex') as "tokenHash"
       from agent g join account a on a.id = g.account_id
      where g.token_hash = any(array(select decode(hash, 'hex') from unnest($1::text[]) as hash)) and g.status <> 'removed'`,
    [tokenHashes],
  );
