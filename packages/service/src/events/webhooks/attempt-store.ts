import { MAX_KEPT_ATTEMPTS } from '@agent-network/contracts/webhooks';
import type { Sql, Tx } from '../../store/sql.ts';
import type { AttemptVerdict, EndpointAnswer } from './attempt.ts';

export interface MadeAttempt {
  readonly deliveryId: string;
  readonly webhookId: string;
  /** Counted over the whole life of the delivery. */
  readonly number: number;
  readonly tries: number;
  /** Number of tries that was read before the attempt. */
  readonly triesBefore: number;
  readonly at: Date;
  readonly answer: EndpointAnswer;
  readonly verdict: AttemptVerdict;
}

/**
 * Appends attempts and updates their deliveries; of each, the latest `MAX_KEPT_ATTEMPTS` stay. No effect when the number is taken or the
 * delivery is gone. A delivery that was replayed during an attempt stays due: the attempt belongs to the schedule of before.
 */
export async function insertAttempts(tx: Tx, attempts: readonly MadeAttempt[]): Promise<void> {
  await tx.query(
    'insert-attempts',
    `with made as (
       select * from unnest($1::text[], $2::int[], $3::timestamptz[], $4::int[], $5::text[], $6::int[], $7::text[], $8::text[],
                            $9::timestamptz[], $10::int[], $11::int[])
         as n(id, number, at, status, error, duration_ms, response, state, next_at, tries, tries_before)
     ), moved as (
       update webhook_delivery d
          set attempts = n.number, is_early = false, tries = case when d.tries = n.tries_before then n.tries else d.tries end,
              -- Ended meanwhile, as its endpoint was disabled: it stays so unless it arrived.
              state = case when d.tries <> n.tries_before then d.state
                           when d.state = 'pending' or n.state = 'delivered' then n.state else d.state end,
              next_attempt_at = case when d.tries <> n.tries_before then d.next_attempt_at
                                     when d.state = 'pending' then n.next_at end
         from made n where d.id = n.id and d.attempts = n.number - 1 returning d.id
     ), trimmed as (
       delete from webhook_attempt a using made n join moved on moved.id = n.id
        where a.delivery_id = n.id and a.number <= n.number - ${MAX_KEPT_ATTEMPTS}
     )
     insert into webhook_attempt (delivery_id, number, at, status, error, duration_ms, response)
     select n.id, n.number, n.at, n.status, n.error, n.duration_ms, n.response from made n join moved on moved.id = n.id`,
    [
      attempts.map((a) => a.deliveryId),
      attempts.map((a) => a.number),
      attempts.map((a) => a.at),
      attempts.map((a) => a.answer.status),
      attempts.map((a) => a.answer.error),
      attempts.map((a) => a.answer.durationMs),
      attempts.map((a) => a.answer.response),
      attempts.map((a) => a.verdict.state),
      attempts.map((a) => a.verdict.nextAttemptAt),
      attempts.map((a) => a.tries),
      attempts.map((a) => a.triesBefore),
    ],
  );
}

/** Fails up to `most` pending deliveries of a disabled webhook; null: of all disabled ones. Returns their number. */
export async function failSomePending(sql: Sql, webhookId: string | null, most: number): Promise<number> {
  const rows = await sql.query(
    'fail-pending-deliveries',
    `update webhook_delivery set state = 'failed', next_attempt_at = null
      where state = 'pending' and id in (
        select d.id from webhook w cross join lateral (
          (select id from webhook_delivery where webhook_id = w.id and state = 'pending' and tries = 0 limit $2)
          union all
          (select id from webhook_delivery where webhook_id = w.id and state = 'pending' and tries > 0 limit $2)) d
         where w.status = 'disabled' and ($1::text is null or w.id = $1) limit $2)
     returning 1`,
    [webhookId, most],
  );
  return rows.length;
}
