import type { OperatorInvocation } from '@agent-network/contracts/network/operator-invocation';
import type { CancelReason, Invocation } from '../calls/invocation.ts';
import type { Movement } from '../payments/statements/movements-of.ts';
import type { Sql } from '../store/sql.ts';

/** An invocation with its hold and, for a remote agent, its id at the home node. */
export interface TraceRow
  extends Pick<
    Invocation,
    | 'id'
    | 'status'
    | 'errorCode'
    | 'errorMessage'
    | 'accountId'
    | 'callerAgentId'
    | 'agentId'
    | 'requestedAgentId'
    | 'bulkId'
    | 'paymentMethod'
    | 'scheme'
    | 'payerLedgerId'
    | 'priceMicro'
    | 'costMicro'
    | 'refundMicro'
    | 'promisedMicro'
    | 'returnedMicro'
    | 'attempt'
    | 'worker'
    | 'createdAt'
    | 'startedAt'
    | 'completedAt'
    | 'deadline'
  > {
  readonly cancelReason: CancelReason | null;
  readonly heldMicro: bigint | null;
  readonly capturedMicro: bigint | null;
  readonly heldAt: Date | null;
  readonly releasedAt: Date | null;
  readonly homeNodeId: string | null;
  readonly homeRequestId: string | null;
}

export async function findTrace(sql: Sql, id: string): Promise<TraceRow | null> {
  const rows = await sql.query<TraceRow>(
    'find-invocation-trace',
    `select v.id, v.status, v.error_code as "errorCode", v.error_message as "errorMessage", v.cancel_reason as "cancelReason",
            v.account_id as "accountId", v.caller_agent_id as "callerAgentId", v.agent_id as "agentId",
            v.requested_agent_id as "requestedAgentId", v.bulk_id as "bulkId", v.payment_method as "paymentMethod",
            v.scheme, v.payer_ledger_id as "payerLedgerId", v.price_micro as "priceMicro", v.cost_micro as "costMicro",
            v.refund_micro as "refundMicro", v.promised_micro as "promisedMicro", v.returned_micro as "returnedMicro",
            v.attempt, v.worker, v.created_at as "createdAt", v.started_at as "startedAt", v.completed_at as "completedAt",
            v.deadline, h.amount_micro as "heldMicro", h.captured_micro as "capturedMicro", h.created_at as "heldAt",
            h.ended_at as "releasedAt", c.node_id as "homeNodeId", c.home_request_id as "homeRequestId"
       from invocation v left join hold h on h.id = v.id left join home_call c on c.request_id = v.id
      where v.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

export interface TracePayment extends Movement {
  readonly id: string;
  readonly direction: 'in' | 'out';
  readonly from: string;
  readonly to: string;
  readonly blockNumber: bigint | null;
  readonly lostAt: Date | null;
  /** False for a refund that is credited here: it is never sent. */
  readonly isSigned: boolean;
}

export const listTracePayments = (sql: Sql, id: string): Promise<TracePayment[]> =>
  sql.query<TracePayment>(
    'list-trace-payments',
    `select id, purpose, direction, state, value_micro as "valueMicro", from_address as "from", to_address as "to",
            transaction_hash as "transactionHash", block_number as "blockNumber", reason, created_at as "createdAt",
            ended_at as "endedAt", lost_at as "lostAt", signature <> '0x' as "isSigned"
       from chain_payment where subject_id = $1 order by created_at, id`,
    [id],
  );

export interface TraceVoucher {
  readonly channelId: string;
  readonly maxMicro: bigint;
  readonly amountMicro: bigint;
  readonly chargedMicro: bigint | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** The voucher that paid for an invocation, without its signature; null: none. */
export async function findTraceVoucher(sql: Sql, id: string): Promise<TraceVoucher | null> {
  const [row] = await sql.query<TraceVoucher>(
    'find-trace-voucher',
    `select channel_id as "channelId", max_micro as "maxMicro", amount_micro as "amountMicro", charged_micro as "chargedMicro",
            created_at as "createdAt", ended_at as "endedAt" from channel_charge where request_id = $1`,
    [id],
  );
  return row ?? null;
}

export interface TraceTransfer {
  readonly id: string;
  readonly kind: string;
  readonly debit: string;
  readonly credit: string;
  readonly amountMicro: bigint;
  readonly createdAt: Date;
}

/** Ledger transfers of an invocation and its payments, by primary key: the id of a transfer is its purpose and its cause. */
export const listTraceTransfers = (sql: Sql, id: string, paymentIds: readonly string[]): Promise<TraceTransfer[]> =>
  sql.query<TraceTransfer>(
    'list-trace-transfers',
    `select id, kind, debit, credit, amount_micro as "amountMicro", created_at as "createdAt" from transfer
      where id = any(array(select kind || ':' || $1 from unnest($3::text[]) kind
                           union all
                           select 'refund:' || $1 || ':' || again from unnest($4::text[]) again
                           union all
                           select kind || ':' || payment from unnest($5::text[]) kind, unnest($2::text[]) payment))
      order by created_at, id`,
    [
      id,
      paymentIds,
      ['charge', 'fee', 'bill', 'bill_return', 'refund', 'home_refund', 'home_return', 'voucher', 'unused'],
      ['return', 'second_return'],
      ['deposit', 'payout', 'reversal', 'loss'],
    ],
  );

export interface TraceDelivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly type: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
}

/** The deliveries of events about an invocation or its payments. */
export const listTraceDeliveries = (sql: Sql, subjectIds: readonly string[]): Promise<TraceDelivery[]> =>
  sql.query<TraceDelivery>(
    'list-trace-deliveries',
    `select d.id as "deliveryId", d.webhook_id as "webhookId", d.type, d.state, d.attempts,
            d.next_attempt_at as "nextAttemptAt", d.created_at as "createdAt"
       from event e join webhook w on w.account_id = e.account_id
       join webhook_delivery d on d.webhook_id = w.id and d.event_id = e.id
      where e.subject_id = any($1) order by d.created_at, d.id`,
    [subjectIds],
  );

export interface TraceAttempt {
  readonly type: string;
  readonly number: number;
  readonly at: Date;
  readonly status: number | null;
  readonly error: string | null;
}

export const listTraceAttempts = (sql: Sql, deliveryIds: readonly string[]): Promise<TraceAttempt[]> =>
  sql.query<TraceAttempt>(
    'list-trace-attempts',
    `select d.type, a.number, a.at, a.status, a.error from webhook_attempt a join webhook_delivery d on d.id = a.delivery_id
      where a.delivery_id = any($1) order by a.at, a.delivery_id, a.number`,
    [deliveryIds],
  );

export interface TraceQueueEntry {
  readonly kind: OperatorInvocation['queues'][number]['kind'];
  readonly at: Date | null;
}

export const listTraceQueues = (sql: Sql, id: string, subjectIds: readonly string[]): Promise<TraceQueueEntry[]> =>
  sql.query<TraceQueueEntry>(
    'list-trace-queues',
    `select 'invocation_waiting' as kind, created_at as at from invocation
      where id = $1 and status = 'pending' and worker is null and payment_method <> 'x402'
     union all select 'event_to_tell', created_at from event where subject_id = any($2) and needs_fan_out
     union all select 'hold_open', expires_at from hold where id = $1 and ended_at is null
     union all select 'money_to_audit', since from unaudited_request where request_id = $1
     union all select 'home_to_ask', next_look_at from home_call where request_id = $1 and next_look_at is not null
     union all select 'outcome_to_count', null from outcome_due where request_id = $1
     union all select 'registry_write', created_at from registry_write where subject_id = $1 and state in ('due', 'sent')`,
    [id, subjectIds],
  );
