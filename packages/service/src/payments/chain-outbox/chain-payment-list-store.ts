import type { SeenBlock } from '../../chain/blocks/block-store.ts';
import type { AssetKey } from '../../chain/chain-info.ts';
import { MAX_AUTHORIZATION_WINDOW_S } from '../../chain/keys/authorization.ts';
import type { Sql } from '../../store/sql.ts';
import type { ChainPayment } from './chain-payment.ts';
import { type ChainPaymentRow, chainPaymentColumns, toChainPayment } from './chain-payment-store.ts';
import { IS_NOT_HELD, isDueAt } from './held-payout-store.ts';

/** Position after the last row of the previous page. */
export interface Cursor {
  readonly createdAt: Date;
  readonly id: string;
}

const start: Cursor = { createdAt: new Date(0), id: '' };
const PAGE = 200;

/** Visits all rows page by page, so that stuck rows at the front cannot hide later ones. */
export async function forEachPage(
  read: (after: Cursor, limit: number) => Promise<ChainPayment[]>,
  work: (page: readonly ChainPayment[]) => Promise<void>,
): Promise<void> {
  for (let after: Cursor | undefined = start; after; ) {
    const page = await read(after, PAGE);
    if (page.length > 0) await work(page);
    after = page.length < PAGE ? undefined : page.at(-1);
  }
}

/**
 * Open payments in an asset except bills, which their agents submit, and payouts that are held until later; created before a time that depends on whether
 * the node owes them.
 */
export async function listOpenChainPayments(
  sql: Sql,
  { chainId, token }: AssetKey,
  before: { readonly in: Date; readonly out: Date; readonly now: Date },
  after: Cursor,
  limit: number,
): Promise<ChainPayment[]> {
  const rows = await sql.query<ChainPaymentRow>(
    'list-open-chain-payments',
    `select ${chainPaymentColumns} from chain_payment
      where chain_id = $7 and token = $8 and state in ('claimed', 'broadcasting') and purpose <> 'bill'
        and created_at <= case direction when 'out' then $2::timestamptz else $1 end
        and (created_at, id) > ($3, $4) and ${isDueAt('$6')}
      order by created_at, id limit $5`,
    [before.in, before.out, after.createdAt, after.id, limit, before.now, chainId, token],
  );
  return rows.map(toChainPayment);
}

/** Unsent payouts among these payments. */
export async function listUnsentPayouts(sql: Sql, ids: readonly string[]): Promise<ChainPayment[]> {
  const rows = await sql.query<ChainPaymentRow>(
    'list-unsent-payouts',
    `select ${chainPaymentColumns} from chain_payment where id = any($1) and direction = 'out' and state = 'claimed'
      order by created_at, id`,
    [ids],
  );
  return rows.map(toChainPayment);
}

/** The first row by the partial index of the state, so that the condition never reads the whole table. */
const hasPayment = (where: string) =>
  `(select id from chain_payment where ${where} order by created_at, id limit 1) is not null`;

export const HAS_OPEN_BILLS = hasPayment(`purpose = 'bill' and state in ('claimed', 'broadcasting')`);
export const HAS_UNFINISHED_PAYMENTS = `${hasPayment(`state in ('claimed', 'broadcasting') and purpose <> 'bill'`)}
  or ${hasPayment(`state = 'settled' and lost_at is not null`)}`;

/** Bills in an asset that have not ended, collected or not. */
export async function listOpenBills(
  sql: Sql,
  { chainId, token }: AssetKey,
  after: Cursor,
  limit: number,
): Promise<ChainPayment[]> {
  const rows = await sql.query<ChainPaymentRow>(
    'list-open-bills',
    `select ${chainPaymentColumns} from chain_payment
      where chain_id = $4 and token = $5 and purpose = 'bill' and state in ('claimed', 'broadcasting')
        and (created_at, id) > ($1, $2)
      order by created_at, id limit $3`,
    [after.createdAt, after.id, limit, chainId, token],
  );
  return rows.map(toChainPayment);
}

/** No authorization is taken that is valid for longer; an hour more, for a clock that was set back before the payment was written down. */
const MAX_VALID_S = MAX_AUTHORIZATION_WINDOW_S + 3600n;

/**
 * SQL condition: the authorization of a payment by others is valid at this time, a parameter of seconds. The second part follows from the
 * first, and bounds the range of the index: failed payments stay for ever.
 */
export const isValidAt = (atS: string): string =>
  `valid_before > ${atS}::bigint and created_at > to_timestamp(${atS}::bigint - ${MAX_VALID_S})`;

/** Incoming payments in an asset that failed here and have an authorization that anyone can still submit at this time. */
export async function listFailedUnexpired(
  sql: Sql,
  { chainId, token }: AssetKey,
  atS: bigint,
  after: Cursor,
  limit: number,
): Promise<ChainPayment[]> {
  const rows = await sql.query<ChainPaymentRow>(
    'list-failed-unexpired',
    `select ${chainPaymentColumns} from chain_payment
      where chain_id = $5 and token = $6 and state = 'failed' and direction <> 'out' and ${isValidAt('$1')}
        and (created_at, id) > ($2, $3)
      order by created_at, id limit $4`,
    [atS, after.createdAt, after.id, limit, chainId, token],
  );
  return rows.map(toChainPayment);
}

/** Settled payments in an asset with a block that the chain has removed, except payouts that are held until later. */
export async function listLost(
  sql: Sql,
  { chainId, token }: AssetKey,
  now: Date,
  after: Cursor,
  limit: number,
): Promise<ChainPayment[]> {
  const rows = await sql.query<ChainPaymentRow>(
    'list-lost-payments',
    `select ${chainPaymentColumns} from chain_payment
      where chain_id = $5 and token = $6 and state = 'settled' and lost_at is not null and (created_at, id) > ($1, $2)
        and ${isDueAt('$4')}
      order by created_at, id limit $3`,
    [after.createdAt, after.id, limit, now, chainId, token],
  );
  return rows.map(toChainPayment);
}

/** Settled payments in an asset that are recorded in these blocks. */
export async function paymentsInBlocks(
  sql: Sql,
  { chainId, token }: AssetKey,
  blocks: readonly SeenBlock[],
): Promise<ChainPayment[]> {
  const rows = await sql.query<ChainPaymentRow>(
    'payments-in-blocks',
    `select ${chainPaymentColumns} from chain_payment
      where chain_id = $1 and token = $4 and block_number = any($2) and block_hash is not null and block_hash = any($3)
        and state = 'settled'
      order by created_at, id`,
    [chainId, blocks.map(({ number }) => number), blocks.map(({ hash }) => hash), token],
  );
  return rows.map(toChainPayment);
}

/** Count of payments that were due before a time and are still undecided, with the time of the oldest. */
export async function countUnknown(sql: Sql, before: Date): Promise<{ count: number; oldestAt: Date | null }> {
  const [row] = await sql.query<{ count: number; oldestAt: Date | null }>(
    'count-unknown-payments',
    `select count(*)::int as count, min(created_at) as "oldestAt" from chain_payment
      where state in ('claimed', 'broadcasting') and purpose <> 'bill' and created_at <= $1 and ${IS_NOT_HELD}`,
    [before],
  );
  return row ?? { count: 0, oldestAt: null };
}

export interface Movement extends Pick<ChainPayment, 'purpose' | 'state' | 'transactionHash' | 'reason' | 'createdAt'> {
  readonly valueMicro: bigint;
  readonly endedAt: Date | null;
}

/** Payments of a subject: at most one per purpose. */
export const listMovements = (sql: Sql, subjectId: string): Promise<Movement[]> =>
  sql.query<Movement>(
    'list-movements',
    `select purpose, state, value_micro as "valueMicro", transaction_hash as "transactionHash", reason,
            created_at as "createdAt", ended_at as "endedAt"
       from chain_payment where subject_id = $1 order by created_at, id`,
    [subjectId],
  );

/** A wallet and the amount that it paid in a token. */
export interface PaidIn {
  readonly address: string;
  readonly token: string;
  readonly paidMicro: bigint;
}

/** Amount per wallet and token that it paid in these transactions, deposits into channels included. */
export const sumPaidIn = (sql: Sql, hashes: readonly string[]): Promise<PaidIn[]> =>
  sql.query<PaidIn>(
    'sum-paid-in',
    `select from_address as address, token, sum(value_micro)::bigint as "paidMicro" from chain_payment
      where direction <> 'out' and state = 'settled' and transaction_hash = any($1) group by 1, 2 order by 1, 2`,
    [hashes],
  );

/** Sum of payouts not recorded as paid: the money may or may not have left the wallet. */
export async function sumOpenPayouts(sql: Sql, { chainId, token }: AssetKey): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-open-payouts',
    `select coalesce(sum(value_micro), 0)::bigint as sum from chain_payment
      where chain_id = $1 and token = $2 and direction = 'out' and state in ('claimed', 'broadcasting')`,
    [chainId, token],
  );
  return row?.sum ?? 0n;
}
