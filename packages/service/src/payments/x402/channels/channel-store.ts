import type { ChannelConfig } from '../../../chain/channels/channel-digests.ts';
import { lockFree } from '../../../db/lock-free.ts';
import type { Sql, Tx } from '../../../db/sql.ts';
import { openLedgerAccount } from '../../ledger/ledger-store.ts';
import { type Channel, channelAccountId } from './channel.ts';

/** Read twice for each call: the configuration, which a voucher brings itself, is left out. */
const columns = `id, payer, balance_micro as "balanceMicro", claimed_micro as "claimedMicro", charged_micro as "chargedMicro",
  reserved_micro as "reservedMicro", signed_micro as "signedMicro", signature, published_micro as "publishedMicro",
  refund_nonce as "refundNonce", withdraw_requested_at as "withdrawRequestedAt", refund_id as "refundId",
  case when turn_until > now() then turn_request end as "turnRequestId"`;

/** Records a channel with its ledger account, unless it is known. Its balance is raised when a deposit is deep enough in the chain. */
export async function openChannel(
  tx: Tx,
  channel: { readonly id: string; readonly chainId: number; readonly config: ChannelConfig },
  now: Date,
): Promise<void> {
  const { id, chainId, config } = channel;
  await tx.query(
    'open-channel',
    `insert into channel (id, chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt, created_at, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) on conflict do nothing`,
    [
      ...[id, chainId, config.payer, config.payerAuthorizer, config.receiver, config.receiverAuthorizer],
      ...[config.token, config.withdrawDelayS, config.salt, now],
    ],
  );
  await openLedgerAccount(tx, { id: channelAccountId(id), kind: 'channel', address: config.payer, now });
}

export async function findChannels(sql: Sql, ids: readonly string[]): Promise<Map<string, Channel>> {
  const rows = await sql.query<Channel>('find-channels', `select ${columns} from channel where id = any($1)`, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** A payer with more channels that owe something is one that owes much. */
const MAX_SUMMED = 1000;

/** What the channels of each payer owe beyond their claims, calls in flight included; payers that owe nothing are absent. */
export async function sumOwed(sql: Sql, payers: readonly string[]): Promise<Map<string, bigint>> {
  const rows = await sql.query<{ payer: string; micro: bigint }>(
    'sum-owed-by-payers',
    `select payer, case when count(*) = ${MAX_SUMMED} then 1e15::bigint else sum(owed)::bigint end as micro
       from unnest($1::text[]) as wallet(payer) cross join lateral (
         select greatest(0, c.charged_micro + c.reserved_micro - c.claimed_micro) as owed from channel c
          where c.payer = wallet.payer and c.is_under_way limit ${MAX_SUMMED}) c
      group by payer`,
    [payers],
  );
  return new Map(rows.map(({ payer, micro }) => [payer, micro]));
}

/** Locks channels in the order of their ids, so that batches cannot deadlock. Before accounts of the ledger. */
export async function lockChannels(tx: Tx, ids: readonly string[]): Promise<Map<string, Channel>> {
  const rows = await tx.query<Channel>(
    'lock-channels',
    `select ${columns} from channel where id = any($1) order by id for no key update`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks channels that nobody else has locked. Throws HeldUpError with their accounts for the others, instead of waiting. */
export const lockFreeChannels = (tx: Tx, ids: readonly string[]): Promise<void> =>
  lockFree(tx, {
    ...{ name: 'lock-free-channels', key: 'id', from: 'channel where id = any($1)', params: [ids] },
    nameOf: channelAccountId,
  });

/** A voucher that pays for a request. */
export interface NewCharge {
  readonly requestId: string;
  readonly channelId: string;
  readonly priceMicro: bigint;
  readonly maxMicro: bigint;
  readonly signature: string;
  readonly fingerprint: Buffer;
}

/**
 * Reserves the prices of requests in their channels, which the caller has locked and judged, and keeps the highest voucher of each. Returns
 * the requests that are new: one that exists is not charged again.
 */
export async function reserveCharges(tx: Tx, charges: readonly NewCharge[], now: Date): Promise<Set<string>> {
  const of = <T>(pick: (charge: NewCharge) => T) => charges.map(pick);
  const rows = await tx.query<{ id: string }>(
    'reserve-charges',
    `with charge as (
       insert into channel_charge (request_id, channel_id, amount_micro, max_micro, signature, fingerprint, created_at)
       select n.request, n.channel, n.price, n.max, n.signature, n.fingerprint, $7
         from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[])
           as n(request, channel, price, max, signature, fingerprint)
        where not exists (select from invocation v where v.id = n.request)
       on conflict do nothing returning request_id, channel_id, amount_micro, max_micro, signature
     ), sum as (
       select channel_id, sum(amount_micro) as reserved, max(max_micro) as signed,
              (array_agg(signature order by max_micro desc))[1] as signature from charge group by channel_id
     ), moved as (
       update channel c
          set reserved_micro = c.reserved_micro + s.reserved, signed_micro = greatest(c.signed_micro, s.signed),
              signature = case when s.signed > c.signed_micro then s.signature else c.signature end, changed_at = $7,
              turn_request = case when c.turn_request = any($1) then null else c.turn_request end
         from sum s where c.id = s.channel_id
     )
     select request_id as id from charge`,
    [
      of((c) => c.requestId),
      of((c) => c.channelId),
      of((c) => c.priceMicro),
      of((c) => c.maxMicro),
      of((c) => c.signature),
      of((c) => c.fingerprint),
      now,
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Ends the charges of requests: the cost is charged for good, the rest of the price is free again. Locks the channels in order. Returns the
 * paying wallets by request.
 */
export async function endCharges(
  tx: Tx,
  ends: readonly { readonly requestId: string; readonly costMicro: bigint }[],
  now: Date,
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<{ requestId: string; payer: string }>(
    'end-charges',
    `with locked as (
       select id, payer from channel where id = any(array(select channel_id from channel_charge where request_id = any($1)))
        order by id for no key update
     ), ended as (
       update channel_charge g set charged_micro = n.cost, ended_at = $3
         from unnest($1::text[], $2::bigint[]) as n(request, cost)
        where g.request_id = n.request and g.ended_at is null and (select count(*) from locked) > 0
       returning g.request_id, g.channel_id, g.amount_micro, g.billed_micro, n.cost
     ), sum as (
       select channel_id, sum(amount_micro) as reserved, sum(cost) as charged, sum(billed_micro) as billed from ended group by channel_id
     ), moved as (
       update channel c
          set charged_micro = c.charged_micro + s.charged, reserved_micro = c.reserved_micro - s.reserved,
              billed_micro = c.billed_micro - s.billed, changed_at = $3
         from sum s where c.id = s.channel_id
     )
     select e.request_id as "requestId", l.payer from ended e join locked l on l.id = e.channel_id`,
    [ends.map((e) => e.requestId), ends.map((e) => e.costMicro), now],
  );
  return new Map(rows.map(({ requestId, payer }) => [requestId, payer]));
}
