import type { Sql } from '../../store/sql.ts';
import { type AssetKey, tokenKey } from '../chain-info.ts';
import type { BeginPoint, ChainPoint } from './chain-point.ts';

/** Number of points kept. A deeper reorg rewinds to the oldest. */
const POINTS_KEPT = 500;

/** The points up to which a follower of the chain has read. Of several processes that advance from the same point, one does. */
export interface PointStore {
  /** The recorded points, newest first. */
  list(sql: Sql, asset: AssetKey): Promise<ChainPoint[]>;
  /** Advances to a point, unless another process has moved the newest one. Returns whether it advanced. */
  add(sql: Sql, asset: AssetKey, step: { before: BeginPoint | null; point: ChainPoint }): Promise<boolean>;
  /** Deletes the points above a block: a reorg replaced their blocks. */
  goBack(sql: Sql, asset: AssetKey, block: bigint): Promise<void>;
}

/** The points that a table holds: (chain_id, token, block_number, block_hash). */
export const pointStore = (table: 'transfer_point' | 'channel_point' | 'payout_point'): PointStore => ({
  list: (sql, asset) =>
    sql.query<ChainPoint>(
      `list-${table}`,
      `select block_number as block, block_hash as hash from ${table}
        where chain_id = $1 and token = $2 order by block_number desc`,
      [asset.chainId, tokenKey(asset)],
    ),
  async add(sql, asset, { before, point }) {
    const key = [asset.chainId, tokenKey(asset)];
    const rows = await sql.query(
      `add-${table}`,
      `insert into ${table} (chain_id, token, block_number, block_hash)
       select $1, $2, $3, $4
        where (select max(block_number) from ${table} where chain_id = $1 and token = $2) is not distinct from $5
       on conflict do nothing returning block_number`,
      [...key, point.block, point.hash, before?.block ?? null],
    );
    if (rows.length === 0) return false;
    await sql.query(
      `forget-${table}`,
      `delete from ${table} where chain_id = $1 and token = $2 and block_number < (
         select block_number from ${table} where chain_id = $1 and token = $2 order by block_number desc offset $3 limit 1)`,
      [...key, POINTS_KEPT - 1],
    );
    return true;
  },
  async goBack(sql, asset, block) {
    await sql.query(
      `go-back-${table}`,
      `delete from ${table} where chain_id = $1 and token = $2 and block_number > $3`,
      [asset.chainId, tokenKey(asset), block],
    );
  },
});
