import type { Sql, Statement, Tx } from '../store/sql.ts';

/** A call that waits for its payment. */
export interface UnpaidTask {
  /** Id of the request that its payment creates. */
  readonly id: string;
  /** null: the caller has no API key. */
  readonly accountId: string | null;
  readonly callerAgentId: string | null;
  readonly agentId: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly quoteId: string | null;
  readonly messageKey: string;
  readonly offer: unknown;
  readonly refusal: string | null;
  readonly ended: 'rejected' | 'cancelled' | null;
  /** True when the payment has come: its request exists. */
  readonly isPaid: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export type NewUnpaidTask = Omit<UnpaidTask, 'ended' | 'isPaid'> & { readonly holder: string };

const columns = `id, account_id as "accountId", caller_agent_id as "callerAgentId", agent_id as "agentId", body, quote_id as "quoteId",
  message_key as "messageKey", offer, refusal, ended, created_at as "createdAt", expires_at as "expiresAt",
  exists (select 1 from invocation v where v.id = u.id) as "isPaid"`;

/** Keeps a call, or its newer terms. */
export async function writeUnpaid(tx: Tx, task: NewUnpaidTask): Promise<void> {
  await tx.query(
    'write-unpaid',
    `insert into unpaid_task (id, account_id, caller_agent_id, holder, agent_id, body, quote_id, message_key, offer, refusal, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6::json, $7, $8, $9::json, $10, $11, $12)
     on conflict (id) do update set offer = excluded.offer, refusal = excluded.refusal, expires_at = excluded.expires_at, ended = null`,
    [
      ...[task.id, task.accountId, task.callerAgentId, task.holder, task.agentId, JSON.stringify(task.body)],
      ...[task.quoteId, task.messageKey, JSON.stringify(task.offer), task.refusal, task.createdAt, task.expiresAt],
    ],
  );
}

/** True when the node keeps at least `most` calls of callers without a key. */
export async function hasManyKeyless(sql: Sql, most: number): Promise<boolean> {
  const rows = await sql.query(
    'has-many-keyless',
    'select id from unpaid_task where account_id is null order by id offset $1 limit 1',
    [most - 1],
  );
  return rows.length > 0;
}

/** A holder's oldest ones beyond the numbers. Paid ones take no room of those that wait. */
const surplus = `select id from (
     select id, "isPaid", row_number() over (partition by "isPaid" order by created_at desc, id) as nth from (
       select id, created_at, exists (select 1 from invocation v where v.id = u.id) as "isPaid" from unpaid_task u where holder = $1
     ) each
   ) ranked where nth > case when "isPaid" then $3::int else $2::int end`;

/** Removes a holder's oldest calls beyond the limits, except those with a payment that is being accepted. */
export async function trimUnpaid(
  tx: Tx,
  holder: string,
  { waiting, paid }: { readonly waiting: number; readonly paid: number },
): Promise<void> {
  const most = [holder, waiting, paid];
  const locked = await tx.query<{ id: string }>(
    'lock-unpaid-surplus',
    `select id from unpaid_task where id in (${surplus}) for update skip locked`,
    most,
  );
  if (locked.length === 0) return;
  // Some may have been paid before they were locked.
  await tx.query('trim-unpaid', `delete from unpaid_task where id = any($4) and id in (${surplus})`, [
    ...most,
    locked.map(({ id }) => id),
  ]);
}

export async function findUnpaid(sql: Sql, id: string, now: Date): Promise<UnpaidTask | null> {
  const [row] = await sql.query<UnpaidTask>(
    'find-unpaid',
    `select ${columns} from unpaid_task u where id = $1 and expires_at > $2`,
    [id, now],
  );
  return row ?? null;
}

/** The unpaid calls of an account, newest first. A holder has few. */
export const findUnpaidOf = (
  sql: Sql,
  { holder, agentId, now }: { holder: string; agentId: string; now: Date },
): Promise<UnpaidTask[]> =>
  sql.query<UnpaidTask>(
    'find-unpaid-of',
    `select ${columns} from unpaid_task u where holder = $1 and agent_id = $2 and expires_at > $3 and ended is null
        and not exists (select 1 from invocation v where v.id = u.id) order by created_at desc, id`,
    [holder, agentId, now],
  );

export async function recordRefusal(sql: Sql, id: string, refusal: string): Promise<void> {
  await sql.query('record-refusal', 'update unpaid_task set refusal = $2 where id = $1', [id, refusal]);
}

/** Ends a call that no payment has come for; true if this did. Waits for a payment that is being accepted, and sees its request then. */
export async function endUnpaid(tx: Tx, id: string, how: 'rejected' | 'cancelled'): Promise<boolean> {
  await tx.query('lock-unpaid', 'select id from unpaid_task where id = $1 for update', [id]);
  const rows = await tx.query(
    'end-unpaid',
    `update unpaid_task set ended = $2 where id = $1 and ended is null and not exists (select 1 from invocation where id = $1)
     returning id`,
    [id, how],
  );
  return rows.length > 0;
}

/**
 * The kept ones among the given calls, and whether their callers have ended them. They can't be ended before the end of the transaction.
 */
export async function holdUnpaid(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, { isEnded: boolean }>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query<{ id: string; ended: string | null }>(
    'hold-unpaid',
    'select id, ended from unpaid_task where id = any($1) order by id for share',
    [ids],
  );
  return new Map(rows.map(({ id, ended }) => [id, { isEnded: ended !== null }]));
}

/** Flush guard that fails if any of these calls is kept. */
export const noneUnpaid = (ids: readonly string[]): Statement => ({
  name: 'none-unpaid',
  text: 'select require_true(not exists (select from unpaid_task where id = any($1)))',
  params: [ids],
});

export async function removeUnpaid(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-unpaid',
    `delete from unpaid_task where expires_at <= $1 and id in (select id from unpaid_task where expires_at <= $1 order by expires_at limit $2)
     returning id`,
    [before, most],
  );
  return rows.length;
}
