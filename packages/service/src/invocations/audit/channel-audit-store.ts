import type { Sql } from '../../db/sql.ts';
import type { Contradiction } from './money-audit-store.ts';

/**
 * Contradictions between channels and the ledger: what vouchers owe and what is claimed and not swept are the sums of the channels; what a
 * channel has reserved are its calls in flight, and its account holds no more than that.
 */
export const findChannelContradictions = (sql: Sql): Promise<Contradiction[]> =>
  sql.query<Contradiction>(
    'find-channel-contradictions',
    `with total as (
       select kind, -sum(change_micro) as micro from ledger_total where kind in ('vouchers', 'claimed') group by kind
     ), channels as (
       select coalesce(sum(charged_micro + reserved_micro - claimed_micro - lost_micro), 0) as vouchers, coalesce(sum(claimed_micro), 0) as claimed
         from channel
     ), receivers as (
       select coalesce(sum(foreign_micro - settled_micro), 0) as micro, coalesce(sum(known_micro), 0) as known from channel_receiver
     ), expected as (
       select 'vouchers' as kind, vouchers as micro from channels
       union all select 'claimed', channels.claimed + receivers.micro from channels, receivers
     ), in_flight as (
       select channel_id, sum(amount_micro) as micro, sum(billed_micro) as billed from channel_charge where ended_at is null group by 1
     )
     select 'channels_differ' as kind, e.kind as subject, 'the channels make ' || e.micro || ', the ledger has ' || coalesce(t.micro, 0) as detail
       from expected e left join total t on t.kind = e.kind where e.micro <> coalesce(t.micro, 0)
     union all
     select 'claims_differ', 'channels', 'of the channels are ' || claimed || ' claimed, the receiver knows ' || known from channels, receivers
      where claimed <> known
     union all
     select 'reserved_differs', c.id, 'has reserved ' || c.reserved_micro || ' for calls in flight of ' || coalesce(f.micro, 0)
       from channel c left join in_flight f on f.channel_id = c.id where c.reserved_micro <> coalesce(f.micro, 0)
     union all
     select 'channel_account_differs', c.id, 'has reserved ' || c.reserved_micro || ', its account holds ' || a.posted_micro
       from channel c join ledger_account a on a.id = 'channel:' || c.id where a.posted_micro > c.reserved_micro
     union all
     select 'billed_differs', c.id, 'has paid bills of ' || c.billed_micro || ' for calls in flight, which have ' || coalesce(f.billed, 0)
       from channel c left join in_flight f on f.channel_id = c.id where c.billed_micro <> coalesce(f.billed, 0)`,
  );
