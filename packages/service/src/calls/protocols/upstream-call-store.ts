import { isPlainName } from '../../lib/json/json-object.ts';
import type { Sql } from '../../store/sql.ts';
import type { Invocation } from '../invocation.ts';

/** A request that was sent in a turn, or was about to be. */
export interface UpstreamCall {
  /** The upstream's id of the work; null: not known. */
  readonly handle: string | null;
}

export async function findUpstreamCall(
  sql: Sql,
  { id, turn }: Pick<Invocation, 'id' | 'turn'>,
): Promise<UpstreamCall | null> {
  const [row] = await sql.query<UpstreamCall>(
    'find-upstream-call',
    'select handle from upstream_call where request_id = $1 and turn = $2',
    [id, turn],
  );
  return row ?? null;
}

/**
 * Records that a request is about to be sent. `handle`: id of the upstream's work; `isAgain`: it may have been recorded before. Returns false
 * for an earlier record, when another attempt has it, or it has ended. Locks the row, so that a take-over either sees the record or comes first.
 */
export async function markUpstreamCall(
  sql: Sql,
  { id, attempt, turn }: Invocation,
  { now, handle, isAgain }: { readonly now: Date; readonly handle: string | null; readonly isAgain: boolean },
): Promise<boolean> {
  const rows = await sql.query(
    'mark-upstream-call',
    `insert into upstream_call as sent (request_id, sent_at, turn, handle)
     select id, $3, $4, $5 from (select id from invocation where id = $1 and attempt = $2 and status = 'processing' for share) held
     on conflict (request_id, turn) do update set sent_at = excluded.sent_at where $6 returning sent.request_id`,
    [id, attempt, now, turn, handle, isAgain],
  );
  return rows.length > 0;
}

const MAX_HANDLE_CHARS = 500;

/** True for an id of work as it can be kept. */
export const isHandle = (id: unknown): id is string =>
  typeof id === 'string' && id !== '' && id.length <= MAX_HANDLE_CHARS && isPlainName(id);

export async function recordHandle(
  sql: Sql,
  { id, turn }: Pick<Invocation, 'id' | 'turn'>,
  handle: string,
): Promise<void> {
  await sql.query(
    'record-upstream-handle',
    'update upstream_call set handle = $2 where request_id = $1 and turn = $3',
    [id, handle, turn],
  );
}
