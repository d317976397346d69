import type { ChainInfo } from '../../../chain/chain-info.ts';
import type { ChannelConfig } from '../../../chain/channels/channel-digests.ts';
import { freeRowsGuard, lockFree, type WantedRows } from '../../../store/lock-free.ts';
import { run, type Sql, type Statement, type Tx } from '../../../store/sql.ts';
import { openLedgerAccount } from '../../ledger/ledger-store.ts';
import { type Channel, channelAccountId, channelOfAccount } from './channel.ts';

/** Read twice for each call: the configuration, which a voucher brings itself, is left out. */
const columns = `id, payer, balance_micro as "balanceMicro", claimed_micro as "claimedMicro", charged_micro as "chargedMicro",
  reserved_micro as "reservedMicro", signed_micro as "signedMicro", signature, published_micro as "publishedMicro",
  refund_nonce as "refundNonce", withdraw_requested_at as "withdrawRequestedAt", refund_id as "refundId",
  case when turn_until > now() then turn_request end as "turnRequestId"`;

/** Records a channel with its ledger account, unless it is known. Its balance is raised when a deposit is deep enough in the chain. */
export async function openChannel(
  tx: Tx,
  channel: {
    readonly id: string;
    readonly chain: Pick<ChainInfo, 'chainId' | 'ledgerAsset'>;
    readonly config: ChannelConfig;
  },
  now: Date,
): Promise<void> {
  const { id, chain, config } = channel;
  await tx.query(
    'open-channel',
    `insert into channel (id, chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt, created_at, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) on conflict do nothing`,
    [
      ...[id, chain.chainId, config.payer, config.payerAuthorizer, config.receiver, config.receiverAuthorizer],
      ...[config.token, config.withdrawDelayS, config.salt, now],
    ],
  );
  await openLedgerAccount(tx, {
    ...{ id: channelAccountId(id, chain.ledgerAsset), kind: 'channel' },
    ...{ address: config.payer, now },
  });
}

export async function findChannels(sql: Sql, ids: readonly string[]): Promise<Map<string, Channel>> {
  const rows = await run(sql, channelsFound(ids));
  return new Map(rows.map((row) => [row.id, row]));
}

export const channelsFound = (ids: readonly string[]): Statement<Channel> => ({
  name: 'find-channels',
  text: `select ${columns} from channel where id = any($1)`,
  params: [ids],
});

/** A payer with more channels that owe something is one that owes much. */
const MAX_SUMMED = 1000;

/** Query of each payer's channel debt beyond claims, running calls included; payers without debt are absent. */
export const owedBy = (payers: string): string =>
  `select payer, case when count(*) = ${MAX_SUMMED} then 1e15::bigint else sum(owed)::bigint end as micro
     from unnest(${payers}::text[]) as wallet(payer) cross join lateral (
       select greatest(0, c.charged_micro + c.reserved_micro - c.claimed_micro) as owed from channel c
        where c.payer = wallet.payer and c.is_under_way limit ${MAX_SUMMED}) c
    group by payer`;

export async function sumOwed(sql: Sql, payers: readonly string[]): Promise<Map<string, bigint>> {
  const rows = await sql.query<{ payer: string; micro: bigint }>('sum-owed-by-payers', owedBy('$1'), [payers]);
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

/** Locks the channels of these accounts without waiting. Throws HeldUpError with the accounts that other transactions have locked. */
export function lockFreeChannels(tx: Tx, accountIds: readonly string[]): Promise<void> {
  const accounts = new Map(accountIds.map((id) => [channelOfAccount(id), id]));
  return lockFree(tx, { ...freeChannels([...accounts.keys()]), nameOf: (id) => accounts.get(id) as string });
}

/** Flush guard that fails if any of the channels is locked. */
export const freeChannelsGuard = (ids: readonly string[]): Statement => freeRowsGuard(freeChannels(ids));

const freeChannels = (ids: readonly string[]): WantedRows => ({
  ...{ name: 'lock-free-channels', key: 'id', from: 'channel where id = any($1)', params: [ids] },
  nameOf: (id) => channelAccountId(id),
});

/**
 * Flush guard that locks the channels of vouchers, one voucher each. It fails if a channel is locked, another call has the turn, or
 * `judgeVoucher` would refuse a voucher. Failing does not mean a refusal; judge again outside of the flush. Sums may exceed a bigint, so
 * the guard compares numerics.
 */
export const admittedGuard = (
  vouchers: readonly Pick<NewCharge, 'requestId' | 'channelId' | 'priceMicro' | 'maxMicro'>[],
): Statement => ({
  name: 'admitted-vouchers-guard',
  text: `with locked as materialized (
       select * from channel where id = any($2) order by id for no key update skip locked
     )
     select require_true(bool_and(coalesce(
              c.withdraw_requested_at is null and c.refund_id is null
              and greatest(c.claimed_micro, c.published_micro) <= c.charged_micro + c.reserved_micro
              and n.price > 0 and n.max = c.charged_micro + c.reserved_micro + n.price and n.max <= c.balance_micro
              and (coalesce(c.turn_until <= now(), true) or coalesce(c.turn_request = n.request, true)), false)))
       from unnest($1::text[], $2::text[], $3::bigint[], $4::numeric[]) as n(request, channel, price, max)
       left join locked c on c.id = n.channel`,
  params: [
    vouchers.map(({ requestId }) => requestId),
    vouchers.map(({ channelId }) => channelId),
    vouchers.map(({ priceMicro }) => priceMicro),
    vouchers.map(({ maxMicro }) => maxMicro),
  ],
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
  const reserved: Statement<{ id: string }> = {
    name: 'reserve-charges',
    text: `${RESERVING} select request_id as id from charge`,
    params: chargeParams(charges, now),
  };
  return new Set((await run(tx, reserved)).map(({ id }) => id));
}

/** Guarded flush statement that reserves charges. It fails unless all requests are new. */
export const allChargesReserved = (charges: readonly NewCharge[], now: Date): Statement => ({
  name: 'reserve-all-charges',
  text: `${RESERVING} select require_true(count(*) = cardinality($1::text[])) from charge`,
  params: chargeParams(charges, now),
});

const RESERVING = `with charge as (
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
     )`;

const chargeParams = (charges: readonly NewCharge[], now: Date): unknown[] => [
  charges.map((c) => c.requestId),
  charges.map((c) => c.channelId),
  charges.map((c) => c.priceMicro),
  charges.map((c) => c.maxMicro),
  charges.map((c) => c.signature),
  charges.map((c) => c.fingerprint),
  now,
];

/**
 * Ends the charges of requests: the cost is charged for good, the rest of the price is free again. Locks the channels in order. Returns the
 * paying wallets by request.
 */
export async function endCharges(tx: Tx, ends: readonly ChargeEnd[], now: Date): Promise<ReadonlyMap<string, string>> {
  const ended: Statement<{ requestId: string; payer: string }> = {
    name: 'end-charges',
    text: `${ENDING} select e.request_id as "requestId", l.payer from ended e join locked l on l.id = e.channel_id`,
    params: chargeEndParams(ends, now),
  };
  const rows = await run(tx, ended);
  return new Map(rows.map(({ requestId, payer }) => [requestId, payer]));
}

/** Guarded flush statement that ends charges. It fails unless all of them end. */
export const allChargesEnded = (ends: readonly ChargeEnd[], now: Date): Statement => ({
  name: 'end-all-charges',
  text: `${ENDING} select require_true(count(*) = cardinality($1::text[])) from ended`,
  params: chargeEndParams(ends, now),
});

interface ChargeEnd {
  readonly requestId: string;
  readonly costMicro: bigint;
}

const ENDING = `with locked as (
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
     )`;

const chargeEndParams = (ends: readonly ChargeEnd[], now: Date): unknown[] => [
  ends.map(({ requestId }) => requestId),
  ends.map(({ costMicro }) => costMicro),
  now,
];
