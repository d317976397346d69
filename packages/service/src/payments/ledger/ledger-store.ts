import { freeRowsGuard, type LockMode, lockFree, type WantedRows } from '../../store/lock-free.ts';
import { run, type Sql, type Statement, type Tx } from '../../store/sql.ts';
import { inAsset, type LedgerAsset } from './asset-account.ts';
import { booking, lockedAccounts, nameFor } from './booking-store.ts';

/** Accounts that belong to somebody: their balance is stored, and their transfers are numbered. */
type KeptKind = 'treasury' | 'agent' | 'payer' | 'suspense' | 'channel';
/** The node's own accounts take part in every movement: a stored balance would serialize all payments on one row. */
type OwnKind = 'wallet' | 'vouchers' | 'claimed' | 'outgoing' | 'fees' | 'loss';
export type LedgerAccountKind = KeptKind | OwnKind;

/** USDC of the node's wallet on chain. In the books it is the counterpart of all that the node owes, so its balance is negative. */
export const WALLET = 'wallet';
/** Owed to the node by vouchers of channels that are not claimed: negative, as `wallet`. */
export const VOUCHERS = 'vouchers';
/** Claimed on chain and not swept into the wallet yet: negative, as `wallet`. */
export const CLAIMED = 'claimed';
/** Owed on chain and not paid yet. */
export const OUTGOING = 'outgoing';
/** The node's earnings. */
export const FEES = 'fees';
/** Amounts that the chain reversed after they had been spent: a negative balance, at the node's expense. */
export const LOSS = 'loss';

/** The node's own accounts: one of each in every asset. */
export const ownKinds = [WALLET, VOUCHERS, CLAIMED, OUTGOING, FEES, LOSS] as const satisfies readonly OwnKind[];

export interface LedgerAccount {
  readonly id: string;
  readonly kind: LedgerAccountKind;
  readonly asset: LedgerAsset;
  readonly accountId: string | null;
  readonly agentId: string | null;
  readonly label: string | null;
  readonly postedMicro: bigint;
  readonly heldMicro: bigint;
  /** Start of the freeze, during which debits are refused; null: not frozen. */
  readonly frozenAt: Date | null;
  readonly createdAt: Date;
}

const columns = `id, kind, asset, account_id as "accountId", agent_id as "agentId", label, posted_micro as "postedMicro",
  held_micro as "heldMicro", frozen_at as "frozenAt", created_at as "createdAt"`;

export interface NewLedgerAccount {
  readonly id: string;
  readonly kind: LedgerAccountKind;
  readonly accountId?: string;
  readonly agentId?: string;
  readonly address?: string;
}

/** Opens a ledger account, unless it exists. */
export const openLedgerAccount = (
  sql: Sql,
  { now, ...account }: NewLedgerAccount & { readonly now: Date },
): Promise<void> => openLedgerAccounts(sql, [account], now);

/**
 * Opens the ledger accounts that do not exist, in one order: transactions that open the same ones do not wait for each other in a circle. A new
 * treasury is noted as a change: processes know which accounts have none.
 */
export async function openLedgerAccounts(sql: Sql, accounts: readonly NewLedgerAccount[], now: Date): Promise<void> {
  if (accounts.length === 0) return;
  const of = <T>(pick: (account: NewLedgerAccount) => T) => accounts.map(pick);
  await sql.query(
    'open-ledger-accounts',
    `with opened as (
       insert into ledger_account (id, kind, account_id, agent_id, address, created_at, asset)
       select n.*, $6, nullif(split_part(n.id, '@', 2), '') from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) as n(id, kind, account, agent, address)
        order by coalesce(n.account, n.id)
       on conflict do nothing returning kind, account_id
     )
     insert into replica_change (topic, id) select 'treasury', account_id from opened where kind = 'treasury'`,
    [
      of((each) => each.id),
      of((each) => each.kind),
      of((each) => each.accountId ?? null),
      of((each) => each.agentId ?? null),
      of((each) => each.address ?? null),
      now,
    ],
  );
}

/** Opens accounts in another asset, for existing accounts of the default one: with the same owner, and frozen where these are. */
export async function openBeside(tx: Tx, plainIds: readonly string[], asset: string, now: Date): Promise<void> {
  if (plainIds.length === 0) return;
  await tx.query(
    'open-ledger-accounts-beside',
    `insert into ledger_account (id, kind, account_id, agent_id, address, created_at, asset, frozen_at)
     select id || '@' || $2, kind, account_id, agent_id, address, $3, $2, frozen_at
       from (select * from ledger_account where id = any($1) order by id for share) a
     on conflict do nothing`,
    [plainIds, asset, now],
  );
}

export async function labelLedgerAccount(sql: Sql, id: string, label: string): Promise<void> {
  await sql.query(
    'label-ledger-account',
    'update ledger_account set label = $2 where id = $1 and label is distinct from $2',
    [id, label],
  );
}

export const MAX_TREASURIES_LISTED = 1000;

/** The treasuries of an account in all assets, its own first, then its agents': as many as are listed. */
export const listTreasuries = (sql: Sql, accountId: string): Promise<LedgerAccount[]> =>
  sql.query<LedgerAccount>(
    'list-treasuries',
    `select ${columns} from ledger_account where account_id = $1 and kind in ('treasury', 'agent')
      order by kind desc, created_at, id limit $2`,
    [accountId, MAX_TREASURIES_LISTED],
  );

/** The treasuries of an agent, one in each asset that it has earned, the default one first. */
export const listAgentTreasuries = (sql: Sql, agentId: string): Promise<LedgerAccount[]> =>
  sql.query<LedgerAccount>(
    'list-agent-treasuries',
    `select ${columns} from ledger_account where agent_id = $1 and kind = 'agent' order by id`,
    [agentId],
  );

/** Balances and holds of an account's treasuries, summed by asset. */
export const sumTreasuriesByAsset = (
  sql: Sql,
  accountId: string,
): Promise<Pick<LedgerAccount, 'asset' | 'postedMicro' | 'heldMicro'>[]> =>
  sql.query(
    'sum-treasuries-by-asset',
    `select asset, sum(posted_micro)::bigint as "postedMicro", sum(held_micro)::bigint as "heldMicro"
       from ledger_account where account_id = $1 and kind in ('treasury', 'agent') group by asset`,
    [accountId],
  );

/** Names of the agents that the treasuries of an account belong to, by treasury; with an id only that of this one. */
export async function listTreasuryNames(
  sql: Sql,
  accountId: string,
  treasuryId: string | null = null,
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ id: string; name: string }>(
    'list-treasury-names',
    `select a.id, g.name from ledger_account a join agent g on g.id = a.agent_id
      where a.account_id = $1 and a.kind = 'agent' and ($2::text is null or a.id = $2) limit 1000`,
    [accountId, treasuryId],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function findLedgerAccount(sql: Sql, id: string): Promise<LedgerAccount | null> {
  const rows = await sql.query<LedgerAccount>(
    'find-ledger-account',
    `select ${columns} from ledger_account where id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

export const findLedgerAccounts = (sql: Sql, ids: readonly string[]): Promise<LedgerAccount[]> =>
  sql.query<LedgerAccount>('find-ledger-accounts', `select ${columns} from ledger_account where id = any($1)`, [ids]);

/** The suspense accounts of a wallet, one in each asset that it has sent. */
export const listSuspenses = (sql: Sql, address: string): Promise<LedgerAccount[]> =>
  sql.query<LedgerAccount>(
    'list-suspenses',
    `select ${columns} from ledger_account where address = $1 and kind = 'suspense' order by id`,
    [address],
  );

/** The wallet behind an account; null: none. */
export async function findWalletOf(sql: Sql, id: string): Promise<string | null> {
  const rows = await sql.query<{ address: string | null }>(
    'find-wallet-of',
    'select address from ledger_account where id = $1',
    [id],
  );
  return rows[0]?.address ?? null;
}

/** Finds a ledger account and locks it until the transaction ends. */
export async function lockLedgerAccount(sql: Sql, id: string): Promise<LedgerAccount | null> {
  const rows = await sql.query<LedgerAccount>(
    'lock-ledger-account',
    `select ${columns} from ledger_account where id = $1 for no key update`,
    [id],
  );
  return rows[0] ?? null;
}

/** Locks ledger accounts until the transaction ends, in the order of ids. */
export const lockLedgerAccounts = (tx: Tx, ids: readonly string[]): Promise<LedgerAccount[]> =>
  tx.query<LedgerAccount>(
    'lock-ledger-accounts',
    `select ${columns} from ledger_account where id = any($1) order by id for no key update`,
    [ids],
  );

/** An account's agents' treasuries with money that is not frozen, the fullest first. */
export const listEarnings = (
  sql: Sql,
  { accountId, agentId, most }: { readonly accountId: string; readonly agentId: string | null; readonly most: number },
): Promise<LedgerAccount[]> =>
  sql.query<LedgerAccount>(
    'list-earnings',
    `select ${columns} from ledger_account
      where account_id = $1 and kind = 'agent' and ($2::text is null or agent_id = $2) and posted_micro > held_micro
        and frozen_at is null order by posted_micro - held_micro desc, id limit $3`,
    [accountId, agentId, most],
  );

/** Sum of what was collected from a treasury since a time. */
export async function sumCollected(sql: Sql, treasuryId: string, since: Date | null): Promise<bigint> {
  const [row] = await sql.query<{ micro: bigint }>(
    'sum-collected',
    `select coalesce(sum(amount_micro), 0)::bigint as micro from transfer
      where debit = $1 and kind = 'collect' and created_at >= coalesce($2::timestamptz, '-infinity')`,
    [treasuryId, since],
  );
  return row?.micro ?? 0n;
}

const freeAccounts = (ids: readonly string[]): WantedRows => ({
  ...{ name: 'lock-free-accounts', key: 'id', from: 'ledger_account where id = any($1)', params: [ids] },
  nameOf: (id) => id,
});

/** Locks accounts without waiting. Throws HeldUpError with the ids of the accounts that other transactions have locked. */
export const lockFreeAccounts = (tx: Tx, ids: readonly string[]): Promise<void> => lockFree(tx, freeAccounts(ids));

/** Flush guard that fails if any of the accounts is locked. */
export const freeAccountsGuard = (ids: readonly string[]): Statement => freeRowsGuard(freeAccounts(ids));

/** True if no transaction has locked the account. */
export async function isUnlocked(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql.query<{ isUnlocked: boolean }>(
    'is-account-unlocked',
    `with free as materialized (select from ledger_account where id = $1 for no key update skip locked)
     select exists (select from free) or not exists (select from ledger_account where id = $1) as "isUnlocked"`,
    [id],
  );
  return row?.isUnlocked ?? true;
}

/** Serializes withdrawals of the fees in an asset. Credits to the fees are not blocked. */
export const lockFees = (tx: Tx, asset: LedgerAsset): Promise<unknown> =>
  tx.query('lock-fees', `select id from ledger_account where id = $1 for no key update`, [inAsset(FEES, asset)]);

/** The treasury of an account in an asset; null when it has none. */
export async function findTreasuryOf(
  sql: Sql,
  accountId: string,
  asset: LedgerAsset = null,
): Promise<LedgerAccount | null> {
  const rows = await sql.query<LedgerAccount>(
    'find-treasury-of',
    `select ${columns} from ledger_account
      where account_id = $1 and kind = 'treasury' and asset is not distinct from $2`,
    [accountId, asset],
  );
  return rows[0] ?? null;
}

/** The treasuries that these accounts have in an asset, by account. */
export async function findTreasuryIds(
  sql: Sql,
  accountIds: readonly string[],
  asset: LedgerAsset = null,
): Promise<Map<string, string>> {
  const rows = await sql.query<{ id: string; accountId: string }>(
    'find-treasury-ids',
    `select id, account_id as "accountId" from ledger_account
      where account_id = any($1) and kind = 'treasury' and asset is not distinct from $2`,
    [accountIds, asset],
  );
  return new Map(rows.map(({ id, accountId }) => [accountId, id]));
}

/** Freezes the treasuries of an agent in all assets. */
export async function freezeAgentAccounts(tx: Tx, agentId: string, now: Date): Promise<void> {
  await tx.query(
    'freeze-agent-accounts',
    `update ledger_account set frozen_at = coalesce(frozen_at, $2) where agent_id = $1 and kind = 'agent'`,
    [agentId, now],
  );
}

/** Gives the treasuries of an agent in all assets to an account, not frozen. */
export async function giveAgentAccounts(tx: Tx, agentId: string, accountId: string): Promise<void> {
  await tx.query(
    'give-agent-accounts',
    `update ledger_account set frozen_at = null, account_id = $2 where agent_id = $1 and kind = 'agent'`,
    [agentId, accountId],
  );
}

export interface NewTransfer {
  /** Idempotency id, derived from the cause: the same cause moves money once. */
  readonly id: string;
  readonly debit: string;
  readonly credit: string;
  readonly amountMicro: bigint;
  readonly kind:
    | 'deposit'
    | 'refund'
    | 'payout'
    | 'withdrawal'
    | 'return'
    | 'claim'
    | 'reversal'
    | 'charge'
    | 'bill_return'
    | 'fee_payout'
    | 'collect'
    | 'voucher'
    | 'voucher_release'
    | 'voucher_claim'
    | 'sweep'
    | 'voucher_loss';
  readonly subjectId: string;
}

/** Posts transfers between accounts. Throws when an account's balance would fall below its holds, or when a transfer exists already. */
export async function postTransfers(
  sql: Sql,
  transfers: readonly NewTransfer[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<void> {
  for (const statement of transfersPosted(transfers, now, locks)) await run(sql, statement);
}

export const transfersPosted = (transfers: readonly NewTransfer[], now: Date, locks: LockMode): Statement[] =>
  transfers.length === 0 ? [] : [posting(transfers, now, locks)];

const posting = (transfers: readonly NewTransfer[], now: Date, locks: LockMode): Statement => ({
  name: nameFor('post-transfers', locks),
  text: `with movement as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[]) with ordinality
         as m(id, debit, credit, amount, kind, subject, turn)
     ), freed as (
       select ''::text as account, 0::bigint as amount where false
     ), ${lockedAccounts('select debit from movement union select credit from movement', locks)},
     ${booking('$7')}`,
  params: [
    transfers.map((t) => t.id),
    transfers.map((t) => t.debit),
    transfers.map((t) => t.credit),
    transfers.map((t) => t.amountMicro),
    transfers.map((t) => t.kind),
    transfers.map((t) => t.subjectId),
    now,
  ],
});
