import type { Sql } from '../../../store/sql.ts';

/** A call in the order in which calls were made. */
export interface ChargePosition {
  readonly createdAt: string;
  readonly requestId: string;
}

/**
 * Scans the next calls made before a time, and removes those that ended before it and have vouchers below the claimed sum, which can claim
 * nothing more. Returns the last call scanned; null: none is left.
 */
export async function deleteOldCharges(
  sql: Sql,
  before: Date,
  { after, most }: { readonly after: ChargePosition | null; readonly most: number },
): Promise<ChargePosition | null> {
  const [last] = await sql.query<ChargePosition>(
    'delete-old-channel-charges',
    `with seen as (
       select request_id, channel_id, created_at, ended_at, max_micro from channel_charge
        where created_at < $1 and created_at >= $2::timestamptz and (created_at, request_id) > ($2::timestamptz, $3)
        order by created_at, request_id limit $4
     ), removed as (
       delete from channel_charge where request_id in (
         select s.request_id from seen s join channel c on c.id = s.channel_id
          where s.ended_at < $1 and s.max_micro <= c.claimed_micro + c.lost_micro)
     )
     select created_at::text as "createdAt", request_id as "requestId" from seen order by created_at desc, request_id desc limit 1`,
    [before, after?.createdAt ?? '-infinity', after?.requestId ?? '', most],
  );
  return last ?? null;
}

/** Removes claims that ended before a time, up to a number; refunds keep theirs. */
export async function deleteOldClaims(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'delete-old-channel-claims',
    `delete from channel_claim where id in (
       select id from channel_claim k where state <> 'sent' and ended_at < $1
          and not exists (select from channel_refund f where f.claim_id = k.id) order by ended_at limit $2) returning id`,
    [before, most],
  );
  return rows.length;
}
