import type { Sql } from '../db/sql.ts';

export type LedgerAccountKind = 'treasury' | 'agent' | 'payer' | 'wallet' | 'outgoing';

/** The node's own accounts: what its wallet holds on chain, and what it owes on chain but has not paid yet. */
export const WALLET = 'wallet';
export const OUTGOING = 'outgoing';

export interface LedgerAccount {
  readonly id: string;
  readonly kind: LedgerAccountKind;
  readonly accountId: string | null;
  readonly agentId: string | null;
  readonly label: string | null;
  readonly postedMicro: bigint;
  readonly heldMicro: bigint;
  readonly createdAt: Date;
}

const columns = `id, kind, account_id as "accountId", agent_id as "agentId", label, posted_micro as "postedMicro",
  held_micro as "heldMicro", created_at as "createdAt"`;

/** Opens an account of the ledger, unless it exists. */
export async function openLedgerAccount(
  sql: Sql,
  account: {
    id: string;
    kind: 'treasury' | 'agent' | 'payer';
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

/** The same, kept from changing until the transaction ends. */
export async function lockLedgerAccount(sql: Sql, id: string): Promise<LedgerAccount | null> {
  const rows = await sql.query<LedgerAccount>(
    'lock-ledger-account',
    `select ${columns} from ledger_account where id = $1 for update`,
    [id],
  );
  return rows[0] ?? null;
}

/** The treasury that pays for an account's calls; null when it has none. */
export async function findTreasuryOf(sql: Sql, accountId: string): Promise<LedgerAccount | null> {
  const rows = await sql.query<LedgerAccount>(
    'find-treasury-of',
    `select ${columns} from ledger_account where account_id = $1 and kind = 'treasury'`,
    [accountId],
  );
  return rows[0] ?? null;
}

export interface HoldRequest {
  readonly id: string;
  readonly ledgerAccountId: string;
  readonly amountMicro: bigint;
}

export interface HoldAnswer {
  readonly isHeld: boolean;
  readonly availableMicro: bigint;
}

/**
 * Sets money aside, for as many of the requests, in their order, as each account can bear. A request refused behind a larger
 * one of the same account may fit alone: the caller asks again for it by itself.
 * Accounts are locked in the order of their ids, here and in `endHoldRows`, so that batches can't wait for each other in a circle.
 */
export async function placeHoldRows(sql: Sql, requests: readonly HoldRequest[], now: Date): Promise<HoldAnswer[]> {
  return sql.query<HoldAnswer>(
    'place-holds',
    `with request as (
       select * from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as r(id, account, amount, turn)
     ), locked as (
       select id, posted_micro - held_micro as available from ledger_account where id = any($2) order by id for update
     ), decided as (
       select r.*, l.available, sum(r.amount) over (partition by r.account order by r.turn) <= l.available as is_held
         from request r left join locked l on l.id = r.account
     ), moved as (
       update ledger_account a set held_micro = a.held_micro + d.amount
         from (select account, sum(amount) as amount from decided where is_held group by account) d
        where a.id = d.account
     ), placed as (
       insert into hold (id, ledger_account_id, amount_micro, created_at)
       select id, account, amount, $4 from decided where is_held
     )
     select coalesce(is_held, false) as "isHeld", coalesce(available, 0) as "availableMicro" from decided order by turn`,
    [requests.map((r) => r.id), requests.map((r) => r.ledgerAccountId), requests.map((r) => r.amountMicro), now],
  );
}

export interface HoldEnd {
  readonly id: string;
  /** How much of the hold is spent; the rest is free again. */
  readonly captureMicro: bigint;
  /** Who gets what is spent. */
  readonly creditId: string;
}

/** Ends holds: captures a part, releases the rest. A hold that has ended is left as it is. */
export async function endHoldRows(sql: Sql, ends: readonly HoldEnd[], now: Date): Promise<void> {
  await sql.query(
    'end-holds',
    `with request as (
       select * from unnest($1::text[], $2::bigint[], $3::text[]) as r(id, captured, credit)
     ), locked as materialized (
       select id from ledger_account
        where id in (select credit from request)
           or id in (select h.ledger_account_id from hold h where h.id in (select r.id from request r))
        order by id for update
     ), ended as (
       update hold h set captured_micro = r.captured, ended_at = $4 from request r
        where h.id = r.id and h.ended_at is null and (select count(*) from locked) > 0
       returning h.id, h.ledger_account_id as debit, h.amount_micro as amount, r.captured, r.credit
     ), delta as (
       select account, sum(posted)::bigint as posted, sum(held)::bigint as held from (
         select debit as account, -captured as posted, -amount as held from ended
         union all
         select credit, captured, 0 from ended where captured > 0
       ) part group by account
     ), moved as (
       update ledger_account a set posted_micro = a.posted_micro + d.posted, held_micro = a.held_micro + d.held
         from delta d where a.id = d.account
     )
     insert into transfer (id, debit, credit, amount_micro, kind, subject_id, created_at)
     select 'charge:' || id, debit, credit, captured, 'charge', id, $4 from ended where captured > 0`,
    [ends.map((e) => e.id), ends.map((e) => e.captureMicro), ends.map((e) => e.creditId), now],
  );
}

export interface NewTransfer {
  /** Names the cause: the same cause moves money once. */
  readonly id: string;
  readonly debit: string;
  readonly credit: string;
  readonly amountMicro: bigint;
  readonly kind: 'deposit' | 'refund' | 'payout' | 'withdrawal' | 'return';
  readonly subjectId: string;
}

/** Moves money between accounts. Throws when an account would fall below what it holds; a transfer that exists is refused. */
export async function postTransfers(sql: Sql, transfers: readonly NewTransfer[], now: Date): Promise<void> {
  if (transfers.length === 0) return;
  await sql.query(
    'post-transfers',
    `with request as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[])
         as r(id, debit, credit, amount, kind, subject)
     ), locked as materialized (
       select id from ledger_account where kind not in ('wallet', 'outgoing')
          and id in (select debit from request union select credit from request) order by id for update
     ), delta as (
       select account, sum(amount)::bigint as amount from (
         select debit as account, -amount as amount from request union all select credit, amount from request
       ) part where account in (select id from locked) group by account
     ), moved as (
       update ledger_account a set posted_micro = a.posted_micro + d.amount from delta d where a.id = d.account
     )
     insert into transfer (id, debit, credit, amount_micro, kind, subject_id, created_at)
     select id, debit, credit, amount, kind, subject, $7 from request`,
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

/** What the node's wallet must hold on chain by the ledger: all that came in less all that was paid out. */
export async function sumWallet(sql: Sql): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-wallet',
    `select (select coalesce(sum(amount_micro), 0) from transfer where debit = $1)::bigint
          - (select coalesce(sum(amount_micro), 0) from transfer where credit = $1)::bigint as sum`,
    [WALLET],
  );
  return row?.sum ?? 0n;
}
