import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import type { CallUsage } from '@agent-network/contracts/invocations/usage';
import { run, type Sql, type Statement, type Tx } from '../store/sql.ts';
import { OR_AGAIN, RECORD_UNAUDITED, recordUnaudited } from './finish/audit-store.ts';
import { type CancelReason, type Invocation, statusesThatTake } from './invocation.ts';

/** SQL: the questions of the row of a request as JSON. Read for interactive calls only. */
const TURNS = `(
  select coalesce(json_agg(json_build_object('turn', t.turn, 'inputId', t.input_id, 'kind', t.kind, 'message', t.message, 'schema', t.schema,
           'url', t.url, 'askedAt', t.asked_at, 'expiresAt', t.expires_at, 'answeredAt', t.answered_at, 'action', t.action) order by t.turn), '[]')
    from invocation_turn t where t.request_id = id)`;

/** The columns of a request without its content. */
export const stateColumns = `id, bulk_id as "bulkId", webhook_url as "webhookUrl", is_streamed as "isStreamed", shown_share as "shownShare", is_held_back as "isHeldBack", account_id as "accountId", caller_agent_id as "callerAgentId", caller_kind as "callerKind", face as "gateway", agent_id as "agentId", requested_agent_id as "requestedAgentId", chosen, capability, types_id as "typesId", task,
  metadata, priority, price_micro as "priceMicro", usage_terms as "usageTerms", estimated_time as "estimatedTime", deadline,
  payment_method as "paymentMethod", scheme, payer_ledger_id as "payerLedgerId", payment_hash as "paymentHash", status, worker, attempt,
  usage, cost_micro as "costMicro", refund_micro as "refundMicro", billed_micro as "billedMicro", promised_micro as "promisedMicro", returned_micro as "returnedMicro", content_removed_at as "contentRemovedAt", budget_id as "budgetId", error_code as "errorCode",
  error_message as "errorMessage", created_at as "createdAt", started_at as "startedAt", completed_at as "completedAt",
  input_timeout_s as "inputTimeoutS", turn, case when input_timeout_s is not null then ${TURNS} end as turns`;

export const invocationColumns = `${stateColumns}, input, context, result`;

/** Inserts new invocations. JSON travels as text, so that the caller's spelling is kept. */
export async function insertInvocations(sql: Sql, rows: readonly Invocation[]): Promise<void> {
  if (rows.length === 0) return;
  await run(sql, openInvocationsInserted(rows));
  const ended = rows.filter(({ completedAt }) => completedAt !== null);
  if (ended.length > 0) await recordUnaudited(sql, ended);
}

/** Statement that inserts invocations that have not ended. */
export function openInvocationsInserted(rows: readonly Invocation[]): Statement {
  const of = <T>(pick: (row: Invocation) => T) => rows.map(pick);
  return {
    name: 'insert-invocations',
    text: `insert into invocation (id, account_id, caller_agent_id, agent_id, task, input, context, metadata, priority, price_micro,
       estimated_time, deadline, payment_method, payer_ledger_id, status, worker, attempt, created_at, started_at, bulk_id,
       webhook_url, is_streamed, cost_micro, refund_micro, error_code, error_message, completed_at, budget_id,
       requested_agent_id, chosen, capability, types_id, caller_kind, face, shown_share, is_held_back, scheme, usage_terms, input_timeout_s)
     select id, account, caller_agent, agent, task, input::json, context, metadata::json, priority, price, estimated, deadline,
            method, payer, status, worker, attempt, created, started, bulk, webhook, streamed, cost, refund, code, message, completed,
            budget, requested, chosen::json, capability, types, caller_kind, face, share, held_back, scheme, usage_terms::json, input_timeout
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
            $10::bigint[], $11::text[], $12::timestamptz[], $13::text[], $14::text[], $15::text[], $16::uuid[], $17::int[],
            $18::timestamptz[], $19::timestamptz[], $20::text[], $21::text[], $22::boolean[], $23::bigint[], $24::bigint[],
            $25::text[], $26::text[], $27::timestamptz[], $28::text[], $29::text[], $30::text[], $31::text[], $32::text[],
            $33::text[], $34::text[], $35::smallint[], $36::boolean[], $37::text[], $38::text[], $39::int[])
         as n(id, account, caller_agent, agent, task, input, context, metadata, priority, price, estimated, deadline, method,
              payer, status, worker, attempt, created, started, bulk, webhook, streamed, cost, refund, code, message, completed,
              budget, requested, chosen, capability, types, caller_kind, face, share, held_back, scheme, usage_terms, input_timeout)`,
    params: [
      of((r) => r.id),
      of((r) => r.accountId),
      of((r) => r.callerAgentId),
      of((r) => r.agentId),
      of((r) => r.task),
      of((r) => JSON.stringify(r.input)),
      of((r) => r.context),
      of((r) => JSON.stringify(r.metadata)),
      of((r) => r.priority),
      of((r) => r.priceMicro),
      of((r) => r.estimatedTime),
      of((r) => r.deadline),
      of((r) => r.paymentMethod),
      of((r) => r.payerLedgerId),
      of((r) => r.status),
      of((r) => r.worker),
      of((r) => r.attempt),
      of((r) => r.createdAt),
      of((r) => r.startedAt),
      of((r) => r.bulkId),
      of((r) => r.webhookUrl),
      of((r) => r.isStreamed),
      of((r) => r.costMicro),
      of((r) => r.refundMicro),
      of((r) => r.errorCode),
      of((r) => r.errorMessage),
      of((r) => r.completedAt),
      of((r) => r.budgetId),
      of((r) => r.requestedAgentId),
      of((r) => r.chosen && JSON.stringify(r.chosen)),
      of((r) => r.capability),
      of((r) => r.typesId),
      of((r) => r.callerKind),
      of((r) => r.gateway),
      of((r) => r.shownShare),
      of((r) => r.isHeldBack),
      of((r) => r.scheme),
      of((r) => r.usageTerms && JSON.stringify(r.usageTerms)),
      of((r) => r.inputTimeoutS),
    ],
  };
}

/** Removes rows that the caller's own transaction inserted, before anyone else can see them. */
export async function removeRefused(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.query('remove-refused', 'delete from invocation where id = any($1)', [ids]);
}

export async function findInvocation(sql: Sql, id: string): Promise<Invocation | null> {
  const rows = await sql.query<Invocation>(
    'find-invocation',
    `select ${invocationColumns} from invocation where id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/**
 * Moves paid invocations to `processing`; returns the ids that this call moved. Skips those with a payment that was returned or reversed.
 */
export async function beginInvocations(
  sql: Sql,
  begins: readonly { id: string; attempt: number; paymentHash: string | null }[],
  now: Date,
): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(
    'begin-invocations',
    `update invocation v set status = 'processing', started_at = $4, payment_hash = n.hash
       from unnest($1::text[], $2::int[], $3::text[]) as n(id, attempt, hash)
      where v.id = n.id and v.attempt = n.attempt and v.status = any($5)
        and not exists (select from chain_payment r where r.subject_id = v.id
                           and (r.purpose = 'refund' or r.purpose = 'invocation' and r.state = 'reversed')) returning v.id`,
    [
      begins.map((b) => b.id),
      begins.map((b) => b.attempt),
      begins.map((b) => b.paymentHash),
      now,
      statusesThatTake('paid'),
    ],
  );
  return new Set(rows.map((row) => row.id));
}

/** Begins requests with settled payments; returns those that this call began. Skips those with a payment that was returned. */
export const beginPaid = (
  tx: Tx,
  paid: readonly { readonly requestId: string; readonly paymentHash: string | null }[],
  now: Date,
): Promise<Pick<Invocation, 'id' | 'scheme' | 'payerLedgerId' | 'priceMicro' | 'deadline'>[]> =>
  tx.query(
    'begin-paid',
    `update invocation v set status = 'processing', started_at = $3, payment_hash = n.hash
       from unnest($1::text[], $2::text[]) as n(id, hash)
      where v.id = n.id and v.status = any($4)
        and not exists (select from chain_payment r where r.subject_id = v.id and r.purpose = 'refund')
      returning v.id, v.scheme, v.payer_ledger_id as "payerLedgerId", v.price_micro as "priceMicro", v.deadline`,
    [paid.map(({ requestId }) => requestId), paid.map(({ paymentHash }) => paymentHash), now, statusesThatTake('paid')],
  );

export interface InvocationEnd {
  readonly id: string;
  readonly attempt: number;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly result: unknown;
  /** Usage to store; with `isShownPaid` that of the shown output, stored if there was any. */
  readonly usage: CallUsage | null;
  readonly costMicro: bigint;
  readonly refundMicro: bigint;
  /** The cost instead, if output of it was shown before. */
  readonly shownCostMicro: bigint;
  /** True when output that was shown is paid for: it ends without a result, by no error of the agent. */
  readonly isShownPaid: boolean;
  readonly errorCode: FailureReason | null;
  readonly errorMessage: string | null;
  readonly cancelReason: CancelReason | null;
  /** Hashes of input, context and result, as `contentHashes` returns them. */
  readonly contentHashes: Buffer;
}

/** The money of an end. The cost is the agent's bill less returns, for any status. */
export type EndedMoney = Pick<
  Invocation,
  'costMicro' | 'refundMicro' | 'billedMicro' | 'promisedMicro' | 'returnedMicro'
> & {
  /** Amount to capture from its hold: the cost, unless the agent billed it. */
  readonly captureMicro: bigint;
  /** True when it was ended without a result after output was shown, by no error of the agent. */
  readonly isEndedEarly: boolean;
};

/**
 * Ends invocations by compare-and-set on status and attempt; returns those that this call ended. Shown output is recorded in the same row:
 * a chunk stored while the end waits for the row counts, and none is stored after it.
 */
export async function endInvocations(
  sql: Sql,
  ends: readonly InvocationEnd[],
  now: Date,
): Promise<Map<string, EndedMoney>> {
  const rows = await run(sql, invocationsEnded(ends, now));
  return new Map(rows.map(({ id, ...money }) => [id, money]));
}

/** The money of a request that ends without a bill and without shown output, which `invocationsEndedPlainly` guarantees. */
export const plainMoney = ({ costMicro, refundMicro }: InvocationEnd): EndedMoney => ({
  ...{ costMicro, refundMicro, captureMicro: costMicro, isEndedEarly: false },
  ...{ billedMicro: null, promisedMicro: null, returnedMicro: 0n },
});

/** Guarded flush statement that ends invocations. It fails unless all of them end, each with its `plainMoney`. */
export const invocationsEndedPlainly = (ends: readonly InvocationEnd[], now: Date): Statement => ({
  ...invocationsEnded(ends, now),
  name: 'end-invocations-plainly',
  text: `${ENDING}
     select require_true(count(*) = cardinality($1::text[]) and coalesce(bool_and(is_plain), true)) from ended`,
});

const invocationsEnded = (ends: readonly InvocationEnd[], now: Date): Statement<{ id: string } & EndedMoney> => {
  const of = <T>(pick: (end: InvocationEnd) => T) => ends.map(pick);
  return {
    name: 'end-invocations',
    text: `${ENDING}
     select id, cost_micro as "costMicro", refund_micro as "refundMicro", billed_micro as "billedMicro",
            promised_micro as "promisedMicro", returned_micro as "returnedMicro", capture_micro as "captureMicro",
            is_ended_early as "isEndedEarly" from ended`,
    params: [
      of((e) => e.id),
      of((e) => e.attempt),
      of((e) => e.status),
      of((e) => (e.status === 'completed' ? JSON.stringify(e.result) : null)),
      of((e) => e.costMicro),
      of((e) => e.refundMicro),
      of((e) => e.errorCode),
      of((e) => e.errorMessage),
      now,
      statusesThatTake('complete'),
      statusesThatTake('fail'),
      statusesThatTake('cancel'),
      of((e) => e.cancelReason),
      of((e) => e.contentHashes),
      of((e) => e.shownCostMicro),
      of((e) => e.isShownPaid),
      of((e) => e.usage && JSON.stringify(e.usage)),
    ],
  };
};

const ENDING = `with ended as (
       update invocation v
          set status = n.status, result = n.result::json, usage = case when n.is_shown_paid and v.shown_at is null then null else n.usage::json end, cost_micro = coalesce(v.billed_micro - v.returned_micro, case when v.shown_at is null then n.cost else n.shown_cost end),
              refund_micro = coalesce(v.price_micro - v.billed_micro + v.returned_micro,
                                      n.refund + n.cost - case when v.shown_at is null then n.cost else n.shown_cost end),
              is_ended_early = n.is_shown_paid and v.shown_at is not null, error_code = n.code, error_message = n.message,
              cancel_reason = n.cancelled, content_hashes = n.hashes, completed_at = $9,
              counted_bytes = coalesce(octet_length(n.result), 0) + octet_length(v.input::text) + octet_length(v.metadata::text)
                              + octet_length(v.task) + coalesce(octet_length(v.context), 0)
         from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $13::text[],
              $14::bytea[], $15::bigint[], $16::boolean[], $17::text[]) as n(id, attempt, status, result, cost, refund, code, message, cancelled, hashes, shown_cost, is_shown_paid, usage)
        where v.id = n.id and v.attempt = n.attempt
          and v.status = any(case n.status when 'completed' then $10::text[] when 'failed' then $11::text[] else $12::text[] end)
        returning v.id, v.account_id, v.counted_bytes as bytes,
                  v.cost_micro, v.refund_micro, v.billed_micro, v.promised_micro, v.returned_micro, v.is_ended_early,
                  v.shown_at is null and v.billed_micro is null and v.promised_micro is null and v.returned_micro = 0 as is_plain,
                  case when v.shown_at is null or v.billed_micro is not null then n.cost else n.shown_cost end as capture_micro
     ), noted as (
       ${RECORD_UNAUDITED} select id, $9::timestamptz from ended ${OR_AGAIN}
     ), stored as (
       insert into storage_change (account_id, bytes) select account_id, sum(bytes) from ended group by account_id
     )`;

/** The cancelled ones of these requests. */
export async function findCancelled(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'find-cancelled',
    `select id from invocation where id = any($1) and status = 'cancelled'`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * Condition of `takeOrphans`, true as well while a call has run for more than 10 s. Read in the order of the index of open requests, where
 * the first match ends it.
 */
export const HAS_ORPHANS = `(select v.agent_id from invocation v where v.status in ('pending', 'processing')
  and (v.worker is null or coalesce(v.started_at, v.created_at) < now() - interval '10 seconds'
       or not exists (select from process p where p.id = v.worker)) order by v.agent_id, v.worker limit 1) is not null`;

/**
 * Takes over invocations of dead processes, those given back, and this process's own from before `lostBefore` that are not in `known`. A
 * take-over increments the attempt, which fences off writes of a process that only seemed dead. Queued invocations stay in the queue.
 */
export const takeOrphans = (
  sql: Sql,
  { worker, known, lostBefore, limit }: { worker: string; known: readonly string[]; lostBefore: Date; limit: number },
): Promise<Invocation[]> =>
  sql.query<Invocation>(
    'take-orphans',
    // The attempt is compared under the lock: a process that started meanwhile may have taken the request, and is not in the snapshot.
    `with left_behind as materialized (
        select v.id, v.attempt from invocation v
         where v.status in ('pending', 'processing')
           and case when v.worker is null then v.status = 'processing' or v.payment_method = 'x402'
                    when v.worker = $1 then coalesce(v.started_at, v.created_at) < $4 and not (v.id = any($2))
                    else not exists (select 1 from process p where p.id = v.worker) end
         order by v.created_at limit $3
     ), taken as (
        select v.id from invocation v join left_behind l using (id)
         where v.attempt = l.attempt and v.status in ('pending', 'processing') for update of v skip locked
     )
     update invocation set worker = $1, attempt = attempt + 1 where id in (select id from taken)
      returning ${invocationColumns}`,
    [worker, known, limit, lostBefore],
  );

/** Gives back all invocations of this process, so that another process, or its next start, continues them at once. */
export async function giveBackAll(sql: Sql, worker: string): Promise<number> {
  const rows = await sql.query(
    'give-back-all',
    `update invocation set worker = null, attempt = attempt + 1
      where worker = $1 and status in ('pending', 'processing') returning id`,
    [worker],
  );
  return rows.length;
}

/**
 * SQL: the A2A field of a request's metadata, exactly as in the index `invocation_context`. PostgreSQL can't read metadata with \u0000 or
 * half a surrogate pair anywhere, so these have no such field. Queries use at most 256 characters.
 */
export const namedByA2a = (name: 'contextId' | 'messageId') =>
  `case when metadata::text !~ '\\\\u(0000|[dD][89a-fA-F])' then left(metadata #>> '{a2a,${name}}', 257) end`;
