import type { InputAction } from '@agent-network/contracts/invocations/turns';
import type { Sql, Tx } from '../../store/sql.ts';
import { type Asked, type AskedTurn, type Invocation, statusesThatTake } from '../invocation.ts';
import { invocationColumns } from '../invocation-store.ts';

export interface NewQuestion extends Pick<Asked, 'question' | 'state' | 'handle'> {
  readonly inputId: string;
  readonly askedAt: Date;
  readonly expiresAt: Date;
  readonly leftMs: number;
}

/**
 * Stores a question with the state of its request: by compare-and-set on attempt and turn, so that a question is stored once. It is an event
 * of the stream as well, behind all chunks. Returns false when another attempt has the request, or it has ended.
 */
export async function storeQuestion(tx: Tx, { id, attempt, turn }: Invocation, asked: NewQuestion): Promise<boolean> {
  const { question, state, handle, inputId, askedAt, expiresAt, leftMs } = asked;
  const rows = await tx.query(
    'store-question',
    `with asking as (
       update invocation set status = 'input_required', deadline = $5, worker = null, attempt = attempt + 1
        where id = $1 and attempt = $2 and turn = $3 and status = any($16) returning id, account_id
     ), stored as (
       insert into invocation_turn (request_id, turn, input_id, kind, message, schema, url, agent_input_id, state, handle, left_ms,
                                    asked_at, expires_at, bytes)
       select id, $3, $4, $6, $7::text, $8::text::json, $9, $10, $11::text::json, $12, $13, $14, $5,
              octet_length($7::text) + coalesce(octet_length($8::text), 0) + coalesce(octet_length($11::text), 0) from asking
       returning request_id, bytes
     ), shown as (
       insert into invocation_chunk (invocation_id, position, type, data, created_at, bytes)
       select id, coalesce((select max(position) from invocation_chunk where invocation_id = $1), 0) + 1, 'invocation.input_required',
              $15::text::json, $14, octet_length($15::text) from asking returning bytes
     ), counted as (
       insert into storage_change (account_id, bytes)
       select asking.account_id, stored.bytes + shown.bytes from asking, stored, shown
     )
     select id from asking`,
    [
      ...[id, attempt, turn, inputId, expiresAt],
      ...[question.kind, question.message, question.schema && JSON.stringify(question.schema), question.url],
      ...[question.agentInputId, state === undefined ? null : JSON.stringify(state), handle, leftMs, askedAt],
      ...[JSON.stringify(eventOf(turn, asked)), statusesThatTake('ask')],
    ],
  );
  return rows.length > 0;
}

/** The data of the event in the stream. */
const eventOf = (turn: number, { question, inputId, askedAt, expiresAt }: NewQuestion) => ({
  status: 'input_required',
  inputRequest: {
    ...{ inputId, turn, kind: question.kind, message: question.message },
    ...(question.schema ? { schema: question.schema } : {}),
    ...(question.url ? { url: question.url } : {}),
    ...{ createdAt: askedAt.toISOString(), expiresAt: expiresAt.toISOString() },
  },
});

/** A question as it is answered. */
export interface StoredQuestion {
  readonly turn: number;
  readonly schema: string | null;
  readonly leftMs: number;
  readonly answeredAt: Date | null;
  readonly answerDigest: Buffer | null;
}

export async function findQuestion(sql: Sql, requestId: string, inputId: string): Promise<StoredQuestion | null> {
  const [row] = await sql.query<StoredQuestion>(
    'find-question',
    `select turn, schema::text as schema, left_ms::float8 as "leftMs", answered_at as "answeredAt", answer_digest as "answerDigest"
       from invocation_turn where request_id = $1 and input_id = $2`,
    [requestId, inputId],
  );
  return row ?? null;
}

/** A question of a request, by its id or its turn. */
export async function findAskedTurn(
  sql: Sql,
  { inputId, requestId, turn }: NamedTurn,
): Promise<(AskedTurn & { readonly requestId: string }) | null> {
  const [row] = await sql.query<AskedTurn & { readonly requestId: string }>(
    'find-asked-turn',
    `select request_id as "requestId", turn, input_id as "inputId", kind, message, schema, url, asked_at as "askedAt",
            expires_at as "expiresAt", answered_at as "answeredAt", action
       from invocation_turn where input_id = $1 or (request_id = $2 and turn = $3)`,
    [inputId ?? null, requestId ?? null, turn ?? null],
  );
  return row ?? null;
}

export type NamedTurn =
  | { readonly inputId: string; readonly requestId?: never; readonly turn?: never }
  | { readonly requestId: string; readonly turn: number; readonly inputId?: never };

/** Counts an answer that does not fit. Returns how many there were to this open question; null: it is not open any more. */
export async function countMisfit(sql: Sql, requestId: string, turn: number): Promise<number | null> {
  const [row] = await sql.query<{ tries: number }>(
    'count-misfit',
    `update invocation_turn set tries = tries + 1 where request_id = $1 and turn = $2 and answered_at is null returning tries`,
    [requestId, turn],
  );
  return row?.tries ?? null;
}

export interface NewAnswer {
  readonly turn: number;
  readonly action: InputAction;
  readonly input: Record<string, unknown> | null;
  readonly note: string | null;
  readonly digest: Buffer;
  /** The caller's id of the message that the answer came in; null: it came in none. */
  readonly messageId: string | null;
  /** The process that goes on. */
  readonly worker: string;
  readonly deadline: Date;
  readonly now: Date;
}

/**
 * Stores an answer with the state of its request: by compare-and-set, so that a question has one answer and none after its time. Returns the
 * request, which this process has then; null: it does not wait for this answer any more.
 */
export async function storeAnswer(tx: Tx, requestId: string, answer: NewAnswer): Promise<Invocation | null> {
  const { turn, action, note, digest, messageId, worker, deadline, now } = answer;
  const input = answer.input && JSON.stringify(answer.input);
  const moved = await tx.query(
    'take-answer',
    `update invocation set status = 'processing', turn = turn + 1, attempt = attempt + 1, worker = $3, deadline = $4
      where id = $1 and turn = $2 and status = any($6) and deadline > $5 returning id`,
    [requestId, turn, worker, deadline, now, statusesThatTake('answer')],
  );
  if (moved.length === 0) return null;
  await tx.query(
    'store-answer',
    `with answered as (
       update invocation_turn set answered_at = $3, action = $4, input = $5::text::json, note = $6::text, answer_digest = $7, message_id = $8,
              bytes = bytes + coalesce(octet_length($5::text), 0) + coalesce(octet_length($6::text), 0)
        where request_id = $1 and turn = $2 returning request_id
     )
     insert into storage_change (account_id, bytes)
     select v.account_id, coalesce(octet_length($5::text), 0) + coalesce(octet_length($6::text), 0)
       from answered join invocation v on v.id = answered.request_id`,
    [requestId, turn, now, action, input, note, digest, messageId],
  );
  const [invocation] = await tx.query<Invocation>(
    'find-invocation',
    `select ${invocationColumns} from invocation where id = $1`,
    [requestId],
  );
  return invocation ?? null;
}

/** An answered question, for its agent. */
export interface GivenAnswer {
  readonly turn: number;
  /** The caller's id of the message that the answer came in; null: it came in none. */
  readonly messageId: string | null;
  readonly agentInputId: string | null;
  readonly action: InputAction;
  readonly input: Record<string, unknown> | null;
  readonly note: string | null;
  /** JSON that the agent wants back; null: none. */
  readonly state: unknown;
  readonly handle: string | null;
}

/** The answers of a request, first to last. */
export const findAnswers = (sql: Sql, requestId: string): Promise<GivenAnswer[]> =>
  sql.query<GivenAnswer>(
    'find-answers',
    `select turn, message_id as "messageId", agent_input_id as "agentInputId", action, input, note, state, handle
       from invocation_turn where request_id = $1 and answered_at is not null order by turn`,
    [requestId],
  );

/** Replaces what an adapter keeps with an answered question. Nothing happens if its contents have been removed. */
export async function keepWithQuestion(
  sql: Sql,
  requestId: string,
  { turn, state }: { readonly turn: number; readonly state: Record<string, unknown> },
): Promise<void> {
  await sql.query(
    'keep-with-question',
    `with old as (
       select bytes, coalesce(octet_length(state::text), 0) as was from invocation_turn where request_id = $1 and turn = $2 for update
     ), kept as (
       update invocation_turn t set state = $3::text::json, bytes = old.bytes + octet_length($3::text) - old.was
         from old where t.request_id = $1 and t.turn = $2 returning octet_length($3::text) - old.was as more
     )
     insert into storage_change (account_id, bytes)
     select v.account_id, kept.more from kept join invocation v on v.id = $1`,
    [requestId, turn, JSON.stringify(state)],
  );
}

/** Id of the upstream work of an open question; null: none. */
export async function findOpenHandle(sql: Sql, requestId: string): Promise<string | null> {
  const [row] = await sql.query<{ handle: string | null }>(
    'find-open-handle',
    'select handle from invocation_turn where request_id = $1 and answered_at is null order by turn desc limit 1',
    [requestId],
  );
  return row?.handle ?? null;
}

/** Position of the last question in the stream of a request; 0: none. */
export async function lastQuestionPosition(sql: Sql, requestId: string): Promise<number> {
  const [row] = await sql.query<{ position: number | null }>(
    'last-question-position',
    `select max(position) as position from invocation_chunk where invocation_id = $1 and type = 'invocation.input_required'`,
    [requestId],
  );
  return row?.position ?? 0;
}

/** Position of a question in the stream of its request; 0: it is not there any more. */
export async function questionPosition(sql: Sql, requestId: string, inputId: string): Promise<number> {
  const [row] = await sql.query<{ position: number }>(
    'question-position',
    `select position from invocation_chunk
      where invocation_id = $1 and type = 'invocation.input_required' and data->'inputRequest'->>'inputId' = $2`,
    [requestId, inputId],
  );
  return row?.position ?? 0;
}

export const HAS_UNANSWERED = `(select min(deadline) from invocation where status = 'input_required') <= given.now`;

/** Requests with a question that has expired, except those in `triedIds`. */
export const findUnanswered = (
  sql: Sql,
  now: Date,
  { triedIds, limit }: { readonly triedIds: readonly string[]; readonly limit: number },
): Promise<Invocation[]> =>
  sql.query<Invocation>(
    'find-unanswered',
    `select ${invocationColumns} from invocation
      where status = 'input_required' and deadline <= $1 and id <> all($3) order by deadline limit $2`,
    [now, limit, triedIds],
  );
