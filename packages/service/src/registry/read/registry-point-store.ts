import type { ChainPoint } from '../../chain/blocks/chain-point.ts';
import type { Sql, Tx } from '../../store/sql.ts';

/** Number of newest blocks that keep all points. Older points are thinned out, the more the older they are. */
const ALL_KEPT = 256;
const NEAR_STEP = 1024;
const FAR_STEP = 65_536;

/** The points, newest first, optionally up to a height. */
export const listPoints = (sql: Sql, chainId: number, upTo: bigint): Promise<ChainPoint[]> =>
  sql.query<ChainPoint>(
    'list-registry-points',
    `select block_number as block, block_hash as hash from registry_point
      where chain_id = $1 and block_number <= $2 order by block_number desc`,
    [chainId, upTo],
  );

/** The point to continue from; null when nothing was read. */
export async function newestPoint(sql: Sql, chainId: number): Promise<ChainPoint | null> {
  const [row] = await sql.query<ChainPoint>(
    'newest-registry-point',
    `select block_number as block, block_hash as hash from registry_point
      where chain_id = $1 order by block_number desc limit 1`,
    [chainId],
  );
  return row ?? null;
}

/** Adds points, in rising order, and thins out old ones. The very first stays. */
export async function addPoints(tx: Tx, chainId: number, points: readonly ChainPoint[]): Promise<void> {
  await tx.query(
    'add-registry-points',
    `insert into registry_point (chain_id, block_number, block_hash)
     select $1, block, hash from unnest($2::bigint[], $3::text[]) as p(block, hash)`,
    [chainId, points.map(({ block }) => block), points.map(({ hash }) => hash)],
  );
  await tx.query(
    'forget-registry-points',
    `delete from registry_point p using (
       select block_number, min(block_number) over () as first,
              max(block_number) over (partition by block_number / ${FAR_STEP}) as far,
              max(block_number) over (partition by block_number / ${NEAR_STEP}) as near
         from registry_point where chain_id = $1 and block_number <= $2 - ${ALL_KEPT}
     ) kept
      where p.chain_id = $1 and p.block_number = kept.block_number and p.block_number <> kept.first
        and p.block_number <> case when p.block_number <= $2 - ${FAR_STEP} then kept.far else kept.near end`,
    [chainId, points.at(-1)?.block ?? 0n],
  );
}

export async function removePointsAbove(tx: Tx, chainId: number, block: bigint): Promise<void> {
  await tx.query('remove-registry-points', 'delete from registry_point where chain_id = $1 and block_number > $2', [
    chainId,
    block,
  ]);
}
