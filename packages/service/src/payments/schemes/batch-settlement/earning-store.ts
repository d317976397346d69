import type { AssetKey } from '../../../chain/chain-info.ts';
import type { Sql, Tx } from '../../../store/sql.ts';
import { plainSql } from '../../ledger/asset-account.ts';
import { FEES } from '../../ledger/ledger-store.ts';

/** SQL: debt of a channel beyond its claims: for ended calls, and for paid bills of running calls. */
const REST = 'greatest(0, c.charged_micro + c.billed_micro - c.claimed_micro)';

/**
 * Releases earnings as far as claims cover them, in the caller's transaction: an account holds back at most the unclaimed debt of a
 * channel. Returns the number of channels, at most `limit`. Channels are locked first, in order, accounts of the ledger last.
 */
export async function releaseEarningRows(
  tx: Tx,
  { chainId, token, limit }: AssetKey & { readonly limit: number },
): Promise<number> {
  const found = await tx.query<{ channelId: string }>(
    'list-claimed-earnings',
    `select distinct e.channel_id as "channelId" from channel_earning e join channel c on c.id = e.channel_id
      where c.chain_id = $1 and c.token = $3 and e.micro > ${REST} limit $2`,
    [chainId, limit, token],
  );
  if (found.length === 0) return 0;
  const ids = found.map(({ channelId }) => channelId);
  await tx.query('lock-claimed-channels', 'select id from channel where id = any($1) order by id for no key update', [
    ids,
  ]);
  await tx.query(
    'release-earnings',
    `with excess as (
       select e.channel_id, e.ledger_account_id as account, ${REST} as rest, e.micro - ${REST} as freed
         from channel_earning e join channel c on c.id = e.channel_id where c.id = any($1) and e.micro > ${REST}
     ), locked as materialized (
       select id, held_micro from ledger_account where id = any(array(select account from excess where ${plainSql('account')} <> '${FEES}'))
        order by id for update
     ), moved as (
       update ledger_account a set held_micro = locked.held_micro - x.freed
         from (select account, sum(freed)::bigint as freed from excess group by account) x join locked on locked.id = x.account
        where a.id = x.account
     ), removed as (
       delete from channel_earning e using excess x
        where e.channel_id = x.channel_id and e.ledger_account_id = x.account and x.rest = 0
     )
     update channel_earning e set micro = x.rest from excess x
      where e.channel_id = x.channel_id and e.ledger_account_id = x.account and x.rest > 0`,
    [ids],
  );
  return found.length;
}

/** SQL: true if a channel can pay this bill. Its earners hold back at least its unclaimed debt. */
const isCovered = (billMicro: string) => `c.charged_micro + c.billed_micro + ${billMicro} - c.claimed_micro
    <= (select coalesce(sum(micro), 0) from channel_earning e where e.channel_id = c.id)`;

/** True if claims of a channel cover a bill that a call in flight would have paid. */
export async function isBillCovered(sql: Sql, channelId: string, billMicro: bigint): Promise<boolean> {
  const rows = await sql.query(
    'is-bill-covered',
    `select 1 from channel c where c.id = $1 and ${isCovered('$2::bigint')}`,
    [channelId, billMicro],
  );
  return rows.length > 0;
}

/**
 * Notes that a bill of a call in flight is paid out of its channel, in the caller's transaction, before accounts of the ledger; false: claims
 * do not cover it.
 */
export async function payOutOfChannel(
  tx: Tx,
  { channelId, requestId, billMicro }: { channelId: string; requestId: string; billMicro: bigint },
): Promise<boolean> {
  await tx.query('lock-billed-channel', 'select id from channel where id = $1 for no key update', [channelId]);
  const rows = await tx.query(
    'pay-out-of-channel',
    `with paid as (
       update channel c set billed_micro = c.billed_micro + $3 where c.id = $1 and ${isCovered('$3::bigint')} returning id
     )
     update channel_charge set billed_micro = $3
      where request_id = $2 and ended_at is null and exists (select from paid) returning request_id`,
    [channelId, requestId, billMicro],
  );
  return rows.length > 0;
}
