import type { Plan } from '@agent-network/contracts/access/access';
import type { Scope } from '@agent-network/contracts/access/scopes';
import type { Sql, Tx } from '../store/sql.ts';
import type { SpendingLimits } from './caller.ts';

export interface AccountRow {
  accountId: string;
  address: string;
  plan: Plan;
  walletProvenAt: Date | null;
  suspendedAt: Date | null;
  suspendedReason: string | null;
  createdAt: Date;
}

export interface KeyRow {
  keyId: string;
  name: string;
  start: string;
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  budgetId: string;
  perCallMicro: bigint | null;
  perDayMicro: bigint | null;
  allowedAgents: string[] | null;
}

/** Creates the account of a wallet, or updates the plan and proof of the existing one. */
export async function saveAccount(
  sql: Sql,
  account: { id: string; address: string; plan: Plan; walletProvenAt: Date | null; now: Date },
): Promise<{ accountId: string }> {
  const [row] = await sql.query<{ accountId: string }>(
    'save-account',
    `insert into account (id, address, plan, wallet_proven_at, created_at) values ($1, $2, $3, $4, $5)
     on conflict (address) do update
       set plan = excluded.plan, wallet_proven_at = coalesce(account.wallet_proven_at, excluded.wallet_proven_at)
     returning id as "accountId"`,
    [account.id, account.address, account.plan, account.walletProvenAt, account.now],
  );
  return row as NonNullable<typeof row>;
}

/** The account of a wallet that has not been proven yet; null: none. */
export async function findUnproven(sql: Sql, address: string): Promise<string | null> {
  const [row] = await sql.query<{ id: string }>(
    'find-unproven-account',
    'select id from account where address = $1 and wallet_proven_at is null',
    [address],
  );
  return row?.id ?? null;
}

/** The account of a wallet that was just proven: the existing one, with its plan, or a new one. */
export async function openProvenAccount(
  sql: Sql,
  account: { id: string; address: string; plan: Plan; now: Date },
): Promise<string> {
  const [row] = await sql.query<{ accountId: string }>(
    'open-proven-account',
    `insert into account (id, address, plan, wallet_proven_at, created_at) values ($1, $2, $3, $4, $4)
     on conflict (address) do update set wallet_proven_at = coalesce(account.wallet_proven_at, excluded.wallet_proven_at)
     returning id as "accountId"`,
    [account.id, account.address, account.plan, account.now],
  );
  return (row as NonNullable<typeof row>).accountId;
}

/** The account of a wallet, unchanged; a new one, on the free plan and not proven, when there is none. */
export async function ensureAccount(sql: Sql, account: { id: string; address: string; now: Date }): Promise<string> {
  const [row] = await sql.query<{ id: string }>(
    'ensure-account',
    `insert into account as a (id, address, plan, created_at) values ($1, $2, 'free', $3)
     on conflict (address) do update set address = excluded.address returning a.id`,
    [account.id, account.address, account.now],
  );
  return (row as NonNullable<typeof row>).id;
}

/** Records the node that the account's wallet signed in as. */
export async function writeNodeUrl(sql: Sql, accountId: string, nodeUrl: string): Promise<void> {
  await sql.query('write-node-url', 'update account set node_url = $2 where id = $1 and node_url is distinct from $2', [
    accountId,
    nodeUrl,
  ]);
}

/** The account of a wallet that signed in as this node; null: none. */
export async function findNodeAccount(sql: Sql, address: string, nodeUrl: string): Promise<string | null> {
  const [row] = await sql.query<{ id: string }>(
    'find-node-account',
    'select id from account where address = $1 and node_url = $2 and wallet_proven_at is not null',
    [address, nodeUrl],
  );
  return row?.id ?? null;
}

/** Records the proof of the account's wallet; the first time stays. */
export async function markWalletProven(sql: Sql, accountId: string, now: Date): Promise<void> {
  await sql.query(
    'mark-wallet-proven',
    'update account set wallet_proven_at = coalesce(wallet_proven_at, $2) where id = $1',
    [accountId, now],
  );
}

export async function findAccount(sql: Sql, accountId: string): Promise<AccountRow | undefined> {
  const rows = await sql.query<AccountRow>(
    'find-account',
    `select id as "accountId", address, plan, wallet_proven_at as "walletProvenAt", created_at as "createdAt",
            suspended_at as "suspendedAt", suspended_reason as "suspendedReason"
       from account where id = $1`,
    [accountId],
  );
  return rows[0];
}

const keyColumns = `id as "keyId", name, start, scopes, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", last_used_at as "lastUsedAt", coalesce(budget_id, id) as "budgetId",
  per_call_micro as "perCallMicro", per_day_micro as "perDayMicro", allowed_agents as "allowedAgents"`;

export async function insertApiKey(
  sql: Sql,
  key: {
    id: string;
    accountId: string;
    name: string;
    start: string;
    secretHash: Buffer;
    scopes: readonly Scope[];
    expiresAt: Date | null;
    limits: SpendingLimits;
    /** null: its own. */
    budgetId: string | null;
    isFromSignIn: boolean;
    now: Date;
  },
): Promise<KeyRow> {
  const [row] = await sql.query<KeyRow>(
    'insert-api-key',
    `insert into api_key (id, account_id, name, start, secret_hash, scopes, expires_at, created_at, per_call_micro, per_day_micro,
       allowed_agents, budget_id, from_sign_in)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning ${keyColumns}`,
    [
      key.id,
      key.accountId,
      key.name,
      key.start,
      key.secretHash,
      key.scopes,
      key.expiresAt,
      key.now,
      key.limits.perCallMicro,
      key.limits.perDayMicro,
      key.limits.allowedAgents,
      key.budgetId,
      key.isFromSignIn,
    ],
  );
  return row as NonNullable<typeof row>;
}

/** SQL: true for a valid key, exactly as in the index `api_key_living`. */
const isLiving = `(revoked_at is null and coalesce(expires_at, 'infinity') > $2)`;

/** Valid keys first, so that dead ones never hide them; of those, the newest. */
export const listApiKeyRows = (sql: Sql, accountId: string, now: Date): Promise<KeyRow[]> =>
  sql.query<KeyRow>(
    'list-api-keys',
    `select ${keyColumns} from api_key where id in (
         select id from api_key where account_id = $1 and kind = 'key' and ${isLiving}
         union all
         (select id from api_key where account_id = $1 and kind = 'key' order by created_at desc limit 1000))
      order by ${isLiving} desc, created_at desc, id limit 1000`,
    [accountId, now],
  );

export async function readPlan(sql: Sql, accountId: string): Promise<Plan> {
  const [row] = await sql.query<{ plan: Plan }>('read-plan', 'select plan from account where id = $1', [accountId]);
  return (row as NonNullable<typeof row>).plan;
}

/** True while the operator suspends the account. */
export async function isSuspended(sql: Sql, accountId: string): Promise<boolean> {
  const rows = await sql.query('is-suspended', 'select from account where id = $1 and suspended_at is not null', [
    accountId,
  ]);
  return rows.length > 0;
}

/** Locks the account until the transaction ends; returns its plan. */
export async function lockAccount(tx: Tx, accountId: string): Promise<Plan> {
  const [row] = await tx.query<{ plan: Plan }>(
    'lock-account',
    'select plan from account where id = $1 for no key update',
    [accountId],
  );
  return (row as NonNullable<typeof row>).plan;
}

export async function countLivingKeys(sql: Sql, accountId: string, now: Date): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'count-living-keys',
    `select count(*)::int as count from api_key where account_id = $1 and kind = 'key' and ${isLiving}`,
    [accountId, now],
  );
  return row?.count ?? 0;
}

export async function endOldestSignInKeys(sql: Sql, accountId: string, count: number, now: Date): Promise<void> {
  await sql.query(
    'end-oldest-sign-in-keys',
    `update api_key set revoked_at = $2 where id in (
       select id from api_key where account_id = $1 and kind = 'key' and from_sign_in and ${isLiving}
        order by created_at, id limit $3)`,
    [accountId, now, count],
  );
}

/** A key of the account, with a row lock until the transaction ends. */
export async function lockApiKeyRow(
  sql: Sql,
  accountId: string,
  keyId: string,
): Promise<(KeyRow & { replacedBy: string | null }) | null> {
  const rows = await sql.query<KeyRow & { replacedBy: string | null }>(
    'lock-api-key',
    `select ${keyColumns}, replaced_by as "replacedBy" from api_key where account_id = $1 and id = $2 and kind = 'key' for update`,
    [accountId, keyId],
  );
  return rows[0] ?? null;
}

/** Records the successor of a key, and the end of the old one. */
export async function replaceApiKeyRow(sql: Sql, keyId: string, replacedBy: string, expiresAt: Date): Promise<void> {
  await sql.query('replace-api-key', 'update api_key set replaced_by = $2, expires_at = $3 where id = $1', [
    keyId,
    replacedBy,
    expiresAt,
  ]);
}

/** True when the account is that of a listed node that passes questions of agents on. */
export async function findInteractiveNode(sql: Sql, accountId: string): Promise<boolean> {
  const rows = await sql.query(
    'is-of-interactive-node',
    `select from account a join network_node n on n.base_url = a.node_url and n.wallet = a.address
      where a.id = $1 and n.is_listed and n.is_interactive`,
    [accountId],
  );
  return rows.length > 0;
}

/** Revokes a key of the account; false when there is none. A repeat keeps the first time. */
export async function revokeApiKeyRow(sql: Sql, accountId: string, keyId: string, now: Date): Promise<boolean> {
  const rows = await sql.query(
    'revoke-api-key',
    `update api_key set revoked_at = coalesce(revoked_at, $3) where account_id = $1 and id = $2 and kind = 'key' returning id`,
    [accountId, keyId, now],
  );
  return rows.length > 0;
}

export async function findListedNode(sql: Sql, accountId: string, address: string): Promise<boolean> {
  const rows = await sql.query(
    'find-listed-node',
    `select from network_node n join account a on a.id = n.account_id
      where a.id = $1 and lower(a.address) = $2 and n.is_listed limit 1`,
    [accountId, address],
  );
  return rows.length > 0;
}

/** Ids of the accounts of these addresses, as far as there are any. */
export async function accountIdsOf(sql: Sql, addresses: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>('account-ids-of', 'select id from account where address = any($1)', [
    addresses,
  ]);
  return rows.map(({ id }) => id);
}
