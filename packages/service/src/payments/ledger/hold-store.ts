import type { LockMode } from '../../store/lock-free.ts';
import type { Statement } from '../../store/sql.ts';
import { assetSuffix, plainSql } from './asset-account.ts';
import { booking, lockClause, lockedAccounts, nameFor } from './booking-store.ts';
import type { HoldAnswer, HoldEnd, HoldRequest } from './hold.ts';
import { FEES, OUTGOING, VOUCHERS } from './ledger-store.ts';

/**
 * Places holds, in request order, for as many requests as each account can cover. A request refused after a larger one of the same account
 * may fit alone: the caller retries it by itself. A frozen account covers none. Balances are computed as in `booking`.
 */
export const holdsPlaced = (requests: readonly HoldRequest[], now: Date, locks: LockMode): Statement<HoldAnswer> => ({
  name: nameFor('place-holds', locks),
  text: `${placing(locks)}
     select coalesce(is_held, false) as "isHeld", coalesce(available, 0) as "availableMicro" from decided order by turn`,
  params: holdParams(requests, now),
});

/** Guarded flush statement that places holds. It fails unless every request gets its hold. */
export const allHoldsPlaced = (requests: readonly HoldRequest[], now: Date): Statement => ({
  name: 'place-all-holds',
  text: `${placing('skip')}
     select require_true(bool_and(coalesce(is_held, false))) from decided`,
  params: holdParams(requests, now),
});

const holdParams = (requests: readonly HoldRequest[], now: Date): unknown[] => [
  requests.map((r) => r.id),
  requests.map((r) => r.ledgerAccountId),
  requests.map((r) => r.amountMicro),
  requests.map((r) => r.expiresAt),
  now,
  requests.map((r) => r.scheme),
];

const placing = (locks: LockMode) => `with request as (
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $6::text[]) with ordinality
         as r(id, account, amount, expires_at, scheme, turn)
     ), locked as (
       select id, posted_micro, held_micro, case when frozen_at is null then posted_micro - held_micro else 0 end as available
         from ledger_account where id = any($2) order by id ${lockClause(locks)}
     ), decided as (
       select r.*, l.available, sum(r.amount) over (partition by r.account order by r.turn) <= l.available as is_held
         from request r left join locked l on l.id = r.account
     ), moved as (
       update ledger_account a set posted_micro = l.posted_micro, held_micro = l.held_micro + d.amount
         from (select account, sum(amount) as amount from decided where is_held group by account) d
         join locked l on l.id = d.account
        where a.id = l.id
     ), placed as (
       insert into hold (id, ledger_account_id, amount_micro, expires_at, created_at, scheme)
       select id, account, amount, expires_at, $5, scheme from decided where is_held
     )`;

/**
 * Places holds on vouchers: each amount arrives as `voucher:<request>` and is held in the same statement, so the channels' accounts always
 * cover them.
 */
export const voucherHoldsPlaced = (requests: readonly HoldRequest[], now: Date, locks: LockMode): Statement => ({
  name: nameFor('place-voucher-holds', locks),
  text: `with request as (
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $6::text[]) with ordinality
         as r(id, account, amount, expires_at, scheme, turn)
     ), ${lockedAccounts('select account from request', locks)},
     placed as (
       insert into hold (id, ledger_account_id, amount_micro, expires_at, created_at, scheme)
       select id, account, amount, expires_at, $5, scheme from request
     ), movement as (
       select turn, 'voucher:' || id as id, '${VOUCHERS}' || ${assetSuffix('account')} as debit, account as credit, amount, 'voucher' as kind, id as subject from request
     ), freed as (
       select account, -amount as amount from request
     ), ${booking('$5')}`,
  params: holdParams(requests, now),
});

/**
 * Ends holds: captures a part, as a charge or, when the node owes it on chain, as a bill; releases the rest. An ended hold stays unchanged.
 * Charges of a channel are held back from their earners until they are claimed (`release-earnings.ts`), as the payer could still withdraw
 * the deposit. The caller has locked the channel.
 */
export function holdsEnded(ends: readonly HoldEnd[], now: Date, locks: LockMode): Statement {
  const accounts = `select credit from request
    union select h.ledger_account_id from request r join hold h on h.id = r.id`;
  return {
    name: nameFor('end-holds', locks),
    text: `with request as (
       select * from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) with ordinality
         as r(id, captured, credit, fee, turn)
     ), ${lockedAccounts(accounts, locks)},
     ended as (
       update hold h set captured_micro = r.captured, ended_at = $5 from request r
        where h.id = r.id and h.ended_at is null and (select count(*) from locked) > 0
       returning h.id, h.scheme, h.ledger_account_id as debit, h.amount_micro as amount, r.captured, r.credit, r.fee, r.turn
     ), movement as (
       select 2 * turn as turn, kind || ':' || id as id, debit, credit, captured as amount, kind, id as subject
         from ended cross join lateral (select case ${plainSql('credit')} when '${OUTGOING}' then 'bill' else 'charge' end as kind) k
        where captured > 0
       union all
       select 2 * turn + 1, 'fee:' || id, credit, '${FEES}' || ${assetSuffix('credit')}, fee, 'fee', id from ended where fee > 0
     ), unclaimed as (
       select ${plainSql('substr(debit, 9)')} as channel, credit, captured - fee as net, fee from ended
        where scheme = 'batch-settlement' and ${plainSql('credit')} <> '${OUTGOING}' and captured > 0
     ), earned as (
       insert into channel_earning (channel_id, ledger_account_id, micro)
       select channel, account, sum(micro) from (
         select channel, credit as account, net as micro from unclaimed union all select channel, '${FEES}' || ${assetSuffix('credit')}, fee from unclaimed
       ) part where micro > 0 group by channel, account
       on conflict (channel_id, ledger_account_id) do update set micro = channel_earning.micro + excluded.micro
     ), freed as (
       select debit as account, amount from ended
       union all select credit, -net from unclaimed
     ), ${booking('$5')}`,
    params: [
      ends.map((e) => e.id),
      ends.map((e) => e.captureMicro),
      ends.map((e) => e.creditId),
      ends.map((e) => e.feeMicro),
      now,
    ],
  };
}
