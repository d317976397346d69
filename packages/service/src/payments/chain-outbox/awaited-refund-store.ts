import { type AssetKey, tokenKey } from '../../chain/chain-info.ts';
import type { Sql } from '../../store/sql.ts';
import type { HomePurpose } from './chain-payment.ts';

export interface AwaitedRefund {
  readonly from: string;
  readonly nonce: string;
  readonly requestId: string;
  readonly purpose: HomePurpose;
}

/** Records expected refunds; returns how many of them belong to this request. Those of another request stay unchanged. */
export async function insertAwaited(sql: Sql, asset: AssetKey, refunds: readonly AwaitedRefund[]): Promise<number> {
  const of = <T>(pick: (refund: AwaitedRefund) => T) => refunds.map(pick);
  const keys = [asset.chainId, tokenKey(asset), of((r) => r.from), of((r) => r.nonce), of((r) => r.requestId)];
  await sql.query(
    'insert-awaited-refunds',
    `insert into awaited_refund (chain_id, token, from_address, nonce, request_id, purpose)
     select $1, $2, * from unnest($3::text[], $4::text[], $5::text[], $6::text[]) on conflict do nothing`,
    [...keys, of((r) => r.purpose)],
  );
  const rows = await sql.query(
    'count-awaited-refunds',
    `select from awaited_refund a join unnest($3::text[], $4::text[], $5::text[]) as r(from_address, nonce, request_id)
         using (from_address, nonce, request_id) where a.chain_id = $1 and a.token = $2`,
    keys,
  );
  return rows.length;
}

/** True if an authorization is the expected refund of a request. */
export async function isAwaited(
  sql: Sql,
  asset: AssetKey,
  { from, nonce }: Pick<AwaitedRefund, 'from' | 'nonce'>,
): Promise<boolean> {
  const rows = await sql.query(
    'is-awaited-refund',
    'select from awaited_refund where chain_id = $1 and token = $4 and from_address = $2 and nonce = $3',
    [asset.chainId, from, nonce, tokenKey(asset)],
  );
  return rows.length > 0;
}

/** Refunds that have arrived and have the confirmation depth required of transfers. */
export const listArrived = (sql: Sql, asset: AssetKey, limit: number): Promise<AwaitedRefund[]> =>
  sql.query<AwaitedRefund>(
    'list-arrived-refunds',
    `select from_address as "from", nonce, request_id as "requestId", purpose
       from unshown_transfer join awaited_refund using (chain_id, token, from_address, nonce)
      where chain_id = $1 and token = $3 order by seen_at limit $2`,
    [asset.chainId, limit, tokenKey(asset)],
  );
