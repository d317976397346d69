import type { Plan } from '@agent-network/contracts/access/access';
import type { AccountSort } from '@agent-network/contracts/network/operator-accounts';
import type { AccountCaller } from '../accounts/caller.ts';
import { nodeOfAccount } from '../accounts/listed-node.ts';
import type { Sql, Tx } from '../store/sql.ts';

export interface AccountRow {
  readonly accountId: string;
  readonly address: string;
  readonly plan: Plan;
  readonly node: AccountCaller['node'];
  readonly walletProvenAt: Date | null;
  readonly suspendedAt: Date | null;
  readonly suspendedReason: string | null;
  readonly createdAt: Date;
}

const columns = `a.id as "accountId", a.address, a.plan, ${nodeOfAccount} as node, a.wallet_proven_at as "walletProvenAt", a.suspended_at as "suspendedAt",
  a.suspended_reason as "suspendedReason", a.created_at as "createdAt"`;

/** An account with its calls, amounts, balance and last use. */
export interface AccountTotalsRow extends AccountRow {
  readonly calls: bigint;
  readonly spentMicro: bigint;
  readonly earnedMicro: bigint;
  /** In the treasuries of the account and its agents, in the default asset. */
  readonly availableMicro: bigint;
  /** Last call or use of a key. */
  readonly seenAt: Date;
  /** The value that the list is sorted by, as its cursor has it. */
  readonly sortedBy: string;
}

const totals = `t.calls, t.spent_micro as "spentMicro", t.earned_micro as "earnedMicro",
  (select coalesce(sum(posted_micro - held_micro), 0)::bigint from ledger_account
    where account_id = a.id and kind in ('treasury', 'agent') and asset is null) as "availableMicro",
  greatest(t.seen_at, (select max(last_used_at) from api_key where account_id = a.id)) as "seenAt"`;

interface Order {
  /** Column of `account_totals`, with an index that has the account's id behind it. */
  readonly column: string;
  /** The value in a cursor, and a cursor's value as the column's. */
  readonly written: string;
  readonly read: string;
}

const orderBy = (column: string): Order => ({ column, written: `t.${column}::text`, read: '$5::bigint' });

/** Null: by the id, which begins with the time. */
const orders: Readonly<Record<AccountSort, Order | null>> = {
  newest: null,
  calls: orderBy('calls'),
  spent: orderBy('spent_micro'),
  earned: orderBy('earned_micro'),
  available: orderBy('available_micro'),
  lastSeen: {
    column: 'seen_at',
    written: 'extract(epoch from t.seen_at)::bigint::text',
    read: 'to_timestamp($5::float8)',
  },
};

export interface AccountFilter {
  readonly search: string | null;
  readonly plan: Plan | null;
  readonly isSuspended: boolean | null;
}

/** Each kind of search is a range of an index. The id of a key has no prefix, and may itself begin with `0x`. */
const searches: readonly (readonly [kind: string, form: RegExp, condition: string])[] = [
  ['account', /^acc_/, 'a.id = $1'],
  ['agent', /^agt_/, 'a.id = (select account_id from agent where id = $1)'],
  ['address', /^0x[0-9a-f]*$/i, "a.address like lower($1) || '%'"],
  ['key', /^([0-9A-Za-z]{12}|ses_.*)$/, 'a.id = (select account_id from api_key where id = $1)'],
];

/** The end of the page before: the value that the list is sorted by (empty: none), and the account's id. */
export interface AccountPosition {
  readonly value: string;
  readonly accountId: string;
}

interface AccountPage {
  readonly sort: AccountSort;
  readonly before: AccountPosition | null;
  readonly limit: number;
}

/** Accounts after a place in an order, the highest first; each order is a range of an index. */
export async function listAccountRows(
  sql: Sql,
  { search, plan, isSuspended }: AccountFilter,
  { sort, before, limit }: AccountPage,
): Promise<AccountTotalsRow[]> {
  const found = search === null ? undefined : searches.find(([, form]) => form.test(search));
  if (search !== null && !found) return [];
  const state = isSuspended === null ? 'true' : `a.suspended_at is ${isSuspended ? 'not ' : ''}null`;
  const order = orders[sort];
  const after = order
    ? `(t.${order.column}, t.account_id) < (${order.read}, $3)`
    : '($5::text is null or true) and a.id < $3';
  return sql.query<AccountTotalsRow>(
    `list-accounts-${found?.[0] ?? 'all'}-${isSuspended}-${sort}`,
    `select ${columns}, ${totals}, ${order ? order.written : `''`} as "sortedBy" from account a join account_totals t on t.account_id = a.id
      where ($1::text is null or ${found?.[2] ?? 'true'}) and ($2::text is null or a.plan = $2) and ($3::text is null or (${after}))
        and ${state}
      order by ${order ? `t.${order.column} desc, t.account_id` : 'a.id'} desc limit $4`,
    [found ? search : null, plan, before?.accountId ?? null, limit, before?.value || null],
  );
}

export async function findAccountRow(sql: Sql, accountId: string): Promise<AccountTotalsRow | null> {
  const [row] = await sql.query<AccountTotalsRow>(
    'find-account-row',
    `select ${columns}, ${totals}, '' as "sortedBy" from account a join account_totals t on t.account_id = a.id where a.id = $1`,
    [accountId],
  );
  return row ?? null;
}

/** Finds an account with a row lock until the transaction ends. */
export async function lockAccountRow(tx: Tx, accountId: string): Promise<AccountRow | null> {
  const [row] = await tx.query<AccountRow>(
    'lock-account-row',
    `select ${columns} from account a where a.id = $1 for no key update`,
    [accountId],
  );
  return row ?? null;
}

export async function updateAccountRow(tx: Tx, row: AccountRow): Promise<void> {
  await tx.query(
    'update-account-status',
    'update account set plan = $2, suspended_at = $3, suspended_reason = $4 where id = $1',
    [row.accountId, row.plan, row.suspendedAt, row.suspendedReason],
  );
}

export interface AccountChangeRow {
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'plan' | 'suspended' | 'resumed';
  readonly plan: Plan | null;
  readonly reason: string;
  readonly actorAccountId: string;
  readonly actorId: string;
  readonly at: Date;
}

export async function insertAccountChange(tx: Tx, change: AccountChangeRow): Promise<void> {
  await tx.query(
    'insert-account-change',
    `insert into account_change (id, account_id, kind, plan, reason, actor_account_id, actor_id, at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[change.id, change.accountId, change.kind, change.plan, change.reason],
      ...[change.actorAccountId, change.actorId, change.at],
    ],
  );
}

export const listAccountChanges = (sql: Sql, accountId: string, limit: number): Promise<AccountChangeRow[]> =>
  sql.query<AccountChangeRow>(
    'list-account-changes',
    `select id, account_id as "accountId", kind, plan, reason, actor_account_id as "actorAccountId", actor_id as "actorId", at
       from account_change where account_id = $1 order by at desc, id desc limit $2`,
    [accountId, limit],
  );

export interface AccountUse {
  readonly keys: number;
  readonly agents: number;
}

export async function readAccountUse(sql: Sql, accountId: string, now: Date): Promise<AccountUse> {
  const [use] = await sql.query<AccountUse>(
    'read-account-use',
    `select (select count(*)::int from api_key where account_id = $1 and kind = 'key' and revoked_at is null
               and (expires_at is null or expires_at > $2)) as keys,
            (select count(*)::int from agent where account_id = $1 and home_node is null and status <> 'removed') as agents`,
    [accountId, now],
  );
  return use as AccountUse;
}
