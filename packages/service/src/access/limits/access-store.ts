import type { Plan } from '@agent-network/contracts/access/access';
import type { Scope } from '@agent-network/contracts/access/scopes';
import type { Sql } from '../../db/sql.ts';
import type { CountedClass } from './rate-limit.ts';

export interface ApiKeyRow {
  keyId: string;
  name: string;
  accountId: string;
  address: string;
  plan: Plan;
  scopes: Scope[];
  isWalletProven: boolean;
  node: 'online' | 'offline' | null;
  secretHash: Buffer;
  expiresAt: Date | null;
  revokedAt: Date | null;
  budgetId: string;
  perCallMicro: bigint | null;
  perDayMicro: bigint | null;
  allowedAgents: string[] | null;
}

const nodeOfAccount =
  '(select n.status from network_node n where n.base_url = a.node_url and n.wallet = a.address and n.is_listed)';

export async function findApiKey(sql: Sql, keyId: string): Promise<ApiKeyRow | undefined> {
  const rows = await sql.query<ApiKeyRow>(
    'find-api-key',
    `select k.id as "keyId", k.name, k.account_id as "accountId", a.address, a.plan, k.scopes,
            a.wallet_proven_at is not null as "isWalletProven",
            ${nodeOfAccount} as node,
            k.secret_hash as "secretHash", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
            coalesce(k.budget_id, k.id) as "budgetId", k.per_call_micro as "perCallMicro", k.per_day_micro as "perDayMicro",
            k.allowed_agents as "allowedAgents"
       from api_key k join account a on a.id = k.account_id
      where k.id = $1 and k.kind = 'key'`,
    [keyId],
  );
  return rows[0];
}

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

interface AgentTokenRow {
  agentId: string;
  accountId: string;
  plan: Plan;
  node: ApiKeyRow['node'];
}

export async function findAgentByToken(sql: Sql, tokenHash: Buffer): Promise<AgentTokenRow | undefined> {
  const rows = await sql.query<AgentTokenRow>(
    'find-agent-by-token',
    `select g.id as "agentId", g.account_id as "accountId", a.plan, ${nodeOfAccount} as node
       from agent g join account a on a.id = g.account_id
      where g.token_hash = $1 and g.status <> 'removed'`,
    [tokenHash],
  );
  return rows[0];
}

export interface CallLease {
  subject: string;
  limitClass: CountedClass;
  limit: number;
  wanted: number;
  now: Date;
}

/** Takes up to `wanted` calls from the subject's window; starts a new window when the old one has ended. */
export async function leaseCalls(
  sql: Sql,
  lease: CallLease,
): Promise<{ granted: number; used: number; startedAt: Date }> {
  const [row] = await sql.query<{ granted: number; used: number; startedAt: Date }>(
    'lease-calls',
    `insert into rate_window as w (subject, class, started_at, used, granted)
     values ($1, $2, $3, least($4::int, $5::int), least($4::int, $5::int))
     on conflict (subject, class) do update set
       started_at = case when w.started_at <= $3 - interval '1 hour' then $3 else w.started_at end,
       used = case when w.started_at <= $3 - interval '1 hour' then least($4::int, $5::int)
                   else w.used + greatest(0, least($4::int, $5::int - w.used)) end,
       granted = case when w.started_at <= $3 - interval '1 hour' then least($4::int, $5::int)
                      else greatest(0, least($4::int, $5::int - w.used)) end
     returning granted, used, started_at as "startedAt"`,
    [lease.subject, lease.limitClass, lease.now, lease.wanted, lease.limit],
  );
  return row as NonNullable<typeof row>;
}

/** The subject's window, current or ended. */
export async function findWindow(
  sql: Sql,
  { subject, limitClass }: { subject: string; limitClass: CountedClass },
): Promise<{ used: number; startedAt: Date } | undefined> {
  const rows = await sql.query<{ used: number; startedAt: Date }>(
    'find-window',
    'select used, started_at as "startedAt" from rate_window where subject = $1 and class = $2',
    [subject, limitClass],
  );
  return rows[0];
}

/** Returns a call to the window that it was taken from; no effect on a later window. */
export async function returnCall(
  sql: Sql,
  call: { subject: string; limitClass: CountedClass; startedAt: Date },
): Promise<void> {
  await sql.query(
    'return-call',
    'update rate_window set used = greatest(0, used - 1) where subject = $1 and class = $2 and started_at = $3',
    [call.subject, call.limitClass, call.startedAt],
  );
}

/** Removes windows that began before a time. Returns their number. */
export async function dropWindows(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'drop-windows',
    `delete from rate_window where (subject, class) in (
       select subject, class from rate_window where started_at < $1 order by started_at limit $2) and started_at < $1 returning 1`,
    [before, most],
  );
  return rows.length;
}
