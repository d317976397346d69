import type { Sql, Tx } from '../../db/sql.ts';
import { booking, lockedAccounts } from './booking-store.ts';

/** Accounts that belong to somebody: their balance is kept, and their transfers are numbered. */
type KeptKind = 'treasury' | 'agent' | 'payer' | 'suspense';
/** The node's own accounts take part in every movement: a kept balance would make all payments wait for one row. */
type OwnKind = 'wallet' | 'outgoing' | 'fees' | 'loss';
export type LedgerAccountKind = KeptKind | OwnKind;

/** What the node's wallet holds on chain: in the books the other side of all that the node owes, so below zero. */
export const WALLET = 'wallet';
/** What the node owes on chain but has not paid yet. */
export const OUTGOING = 'outgoing';
/** What the node earned. */
export const FEES = 'fees';
/** What the chain took back after it had been spent: below zero, and the node's to make good. */
export const LOSS = 'loss';

export interface LedgerAccount {
  readonly id: string;
  readonly kind: LedgerAccountKind;
  readonly accountId: string | null;
  readonly agentId: string | null;
  readonly label: string | null;
  readonly postedMicro: bigint;
  readonly heldMicro: bigint;
  /** Since when nothing leaves it; null: not so. */
  readonly frozenAt: Date | null;
  readonly createdAt: Date;
}

const columns = `id, kind, account_id as "accountId", agent_id as "agentId", label, posted_micro as "postedMicro",
  held_micro as "heldMicro", frozen_at as "frozenAt", created_at as "createdAt"`;

/** Opens an account of the ledger, unless it exists. */
export async function openLedgerAccount(
  sql: Sql,
  account: {
    id: string;
    kind: KeptKind;
    accountId?: string;
    agentId?: string;
    address?: string;
    label?: string | undefined;
    now: Date;
  },
): Promise<void> {
  await sql.query(
    'open-ledger-account',
    `insert into ledger_account (id, kind, account_id, agent_id, address, label, created_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [
      account.id,
      account.kind,
      account.accountId ?? null,
      account.agentId ?? null,
      account.address ?? null,
      account.label ?? null,
      account.now,
    ],
  );
}

/** The treasuries of an account: its own first, then its agents'. */
export const listTreasuries = (sql: Sql, accountId: string): Promise<LedgerAccount[]> =>
  sql.query<LedgerAccount>(
    'list-treasuries',
    `select ${columns} from ledger_account where account_id = $1 and kind in ('treasury', 'agent')
      order by kind desc, created_at, id limit 1000`,
    [accountId],
  );

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

/** The same, kept from changing until the transaction ends. */
export async function lockLedgerAccount(sql: Sql, id: string): Promise<LedgerAccount | null> {
  const rows = await sql.query<LedgerAccount>(
    'lock-ledger-account',
    `select ${columns} from ledger_account where id = $1 for update`,
    [id],
  );
  return rows[0] ?? null;
}

/** Lets one transaction after the other take from the fees. Whoever adds to them waits for nobody. */
export const lockFees = (tx: Tx): Promise<unknown> =>
  tx.query('lock-fees', `select id from ledger_account where id = $1 for no key update`, [FEES]);

/** The treasury that pays for an account's calls; null when it has none. */
export async function findTreasuryOf(sql: Sql, accountId: string): Promise<LedgerAccount | null> {
  const rows = await sql.query<LedgerAccount>(
    'find-treasury-of',
    `select ${columns} from ledger_account where account_id = $1 and kind = 'treasury'`,
    [accountId],
  );
  return rows[0] ?? null;
}

export async function freezeLedgerAccount(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.query(
    'freeze-ledger-account',
    'update ledger_account set frozen_at = coalesce(frozen_at, $2) where id = $1',
    [id, now],
  );
}

export async function thawLedgerAccount(tx: Tx, id: string, accountId: string): Promise<void> {
  await tx.query('thaw-ledger-account', 'update ledger_account set frozen_at = null, account_id = $2 where id = $1', [
    id,
    accountId,
  ]);
}

export interface NewTransfer {
  /** Names the cause: the same cause moves money once. */
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
    | 'fee_payout';
  readonly subjectId: string;
}

/** Moves money between accounts. Throws when an account would fall below what it holds; a transfer that exists is refused. */
export async function postTransfers(sql: Sql, transfers: readonly NewTransfer[], now: Date): Promise<void> {
  if (transfers.length === 0) return;
  await sql.query(
    'post-transfers',
    `with movement as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[]) with ordinality
         as m(id, debit, credit, amount, kind, subject, turn)
     ), freed as (
       select ''::text as account, 0::bigint as amount where false
     ), ${lockedAccounts('select debit from movement union select credit from movement')},
     ${booking('$7')}`,
    [
      transfers.map((t) => t.id),
      transfers.map((t) => t.debit),
      transfers.map((t) => t.credit),
      transfers.map((t) => t.amountMicro),
      transfers.map((t) => t.kind),
      transfers.map((t) => t.subjectId),
      now,
    ],
  );
}
