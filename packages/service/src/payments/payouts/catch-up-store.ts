import { type AssetKey, tokenKey } from '../../chain/chain-info.ts';
import type { Sql } from '../../store/sql.ts';

/** Blocks that were read because the database was another one than before. */
export interface CatchUp {
  readonly chainId: number;
  /** Key of the token (`tokenKey`). */
  readonly token: string;
  readonly database: string;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly isRestored: boolean;
  readonly caughtUpAt: Date;
}

/** The database of now, and whether it was compared with the chain. */
export interface CatchUpState {
  /** Identity of the database. Null: the server does not report it; then only a start of the node counts as a new database. */
  readonly database: string | null;
  /** False: this database was not compared with the chain yet. */
  readonly isCaughtUp: boolean;
}

/** True if this database was not compared with the chain yet. */
export const IS_BEHIND = `exists (select from (select database_identity() as database) i where i.database is not null
  and not exists (select from chain_catch_up c
    where c.chain_id = given.chain_id and c.token = given.token and c.database = i.database))`;

export async function readCatchUp(sql: Sql, asset: AssetKey): Promise<CatchUpState> {
  const [row] = await sql.query<CatchUpState>(
    'read-catch-up',
    `select i.database, i.database is null or exists (select from chain_catch_up c
              where c.chain_id = $1 and c.token = $2 and c.database = i.database) as "isCaughtUp"
       from (select database_identity() as database) i`,
    [asset.chainId, tokenKey(asset)],
  );
  return row ?? { database: null, isCaughtUp: true };
}

export const insertCatchUp = (
  sql: Sql,
  asset: AssetKey,
  { database, fromBlock, toBlock, isRestored, caughtUpAt }: Omit<CatchUp, 'chainId' | 'token'>,
): Promise<unknown> =>
  sql.query(
    'insert-catch-up',
    `insert into chain_catch_up (chain_id, token, database, from_block, to_block, is_restored, caught_up_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [asset.chainId, tokenKey(asset), database, fromBlock, toBlock, isRestored, caughtUpAt],
  );

export const listCatchUps = (sql: Sql): Promise<CatchUp[]> =>
  sql.query<CatchUp>(
    'list-catch-ups',
    `select chain_id as "chainId", token, database, from_block as "fromBlock", to_block as "toBlock", is_restored as "isRestored", caught_up_at as "caughtUpAt"
       from chain_catch_up order by caught_up_at`,
  );

/**
 * The reason for which withdrawals of a ledger account wait: the chain is not read since the restore, or a payout since then is not charged
 * to anybody, or not fully to this account; null: they don't.
 */
export async function whyWithdrawalsWait(
  sql: Sql,
  { source, ...asset }: AssetKey & { source: string },
): Promise<'reading' | 'undecided' | null> {
  const [row] = await sql.query<{ why: 'reading' | 'undecided' | null }>(
    'why-withdrawals-wait',
    `select case when exists (select from found_payout where chain_id = $1 and token = $3 and
                   (is_restored and state in ('found', 'undecided') or state = 'due' and source = $2)) then 'undecided'
                 when exists (select from chain_catch_up where chain_id = $1 and token = $4) and i.database is not null
                  and not exists (select from chain_catch_up c where c.chain_id = $1 and c.token = $4 and c.database = i.database) then 'reading' end as why
       from (select database_identity() as database) i`,
    [asset.chainId, source, asset.token, tokenKey(asset)],
  );
  return row?.why ?? null;
}

/** Assets for which this database was compared with the chain; null: the server does not report which database it is. */
export async function listCaughtUp(sql: Sql): Promise<readonly Pick<CatchUp, 'chainId' | 'token'>[] | null> {
  const rows = await sql.query<{ chainId: number | null; token: string; database: string | null }>(
    'list-caught-up',
    `select i.database, c.chain_id as "chainId", c.token
       from (select database_identity() as database) i left join chain_catch_up c on c.database = i.database`,
  );
  if (rows.every(({ database }) => database === null)) return null;
  return rows.flatMap(({ chainId, token }) => (chainId === null ? [] : { chainId, token }));
}
