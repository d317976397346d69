import type { Receiver } from '../../../events/deliveries/delivery-slots.ts';
import type { Wanted } from '../../../events/deliveries/dispatcher.ts';
import type { Sql, Tx } from '../../../store/sql.ts';
import type { ToldState } from './next-push.ts';
import type { Version } from './versions.ts';

/** A caller's address for pushes of a task. */
export interface PushRow extends Receiver {
  readonly taskId: string;
  readonly id: string;
  readonly url: string;
  readonly version: Version;
  readonly scheme: string | null;
  /** Sealed again at each change, so it also identifies the version. */
  readonly sealed: Buffer;
  readonly told: ToldState;
  readonly tries: number;
}

/** The account and the origin of its address. */
const receiver = `p.account_id || ' ' || coalesce(substring(p.url from '^[^/]*//[^/?#]*'), '')`;
const columns = `p.task_id as "taskId", p.id, p.account_id as "accountId", p.url, p.version, p.scheme, p.sealed, p.told, p.tries, ${receiver} as receiver`;

type NewPush = Omit<PushRow, 'told' | 'tries' | 'receiver'>;

/**
 * Adds one, or changes the one of this id, within these numbers of a task and of an account, in which it does not count itself. False: they
 * are used up. Serialized for each account until the transaction ends.
 */
export async function writePush(
  tx: Tx,
  push: NewPush,
  most: { readonly ofTask: number; readonly ofAccount: number },
  now: Date,
): Promise<boolean> {
  await tx.query('lock-pushes', `select pg_advisory_xact_lock(hashtextextended('a2a-pushes:' || $1, 0))`, [
    push.accountId,
  ]);
  const rows = await tx.query(
    'write-push',
    `insert into a2a_push (task_id, id, account_id, url, version, scheme, sealed, next_at, created_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $8
      where (select count(*) from a2a_push where task_id = $1 and id <> $2) < $9
        and (select count(*) from a2a_push where account_id = $3 and is_open and (task_id, id) <> ($1, $2)) < $10
     on conflict (task_id, id) do update set url = excluded.url, version = excluded.version, scheme = excluded.scheme,
       sealed = excluded.sealed, next_at = excluded.next_at, tries = 0, is_open = a2a_push.told <> 'ended'
     returning id`,
    [
      ...[push.taskId, push.id, push.accountId, push.url, push.version, push.scheme, push.sealed, now],
      ...[most.ofTask, most.ofAccount],
    ],
  );
  return rows.length > 0;
}

interface WantedPush extends Pick<NewPush, 'id' | 'accountId'> {
  /** null: a task that does not exist yet. */
  readonly taskId: string | null;
  /** True when the id is of one message, and so of one task. */
  readonly isOfMessage: boolean;
}

/** True if one may be added within these numbers, or is there already. */
export async function hasPushRoom(
  sql: Sql,
  { taskId, id, accountId, isOfMessage }: WantedPush,
  most: { readonly ofTask: number; readonly ofAccount: number },
): Promise<boolean> {
  const rows = await sql.query(
    'has-push-room',
    `select 1 as room
      where exists (select 1 from a2a_push where account_id = $3 and id = $2 and ($6::boolean or task_id = $1))
         or ((select count(*) from a2a_push where account_id = $3 and is_open) < $5
             and (select count(*) from a2a_push where task_id = $1) < $4)`,
    [taskId, id, accountId, most.ofTask, most.ofAccount, isOfMessage],
  );
  return rows.length > 0;
}

export const findPushes = (sql: Sql, taskId: string): Promise<PushRow[]> =>
  sql.query<PushRow>(
    'find-pushes',
    `select ${columns} from a2a_push p where p.task_id = $1 order by p.created_at, p.id`,
    [taskId],
  );

export async function removePush(sql: Sql, taskId: string, id: string): Promise<void> {
  await sql.query('remove-push', 'delete from a2a_push where task_id = $1 and id = $2', [taskId, id]);
}

export const HAS_DUE_PUSHES = '(select min(next_at) from a2a_push where is_open) <= given.now';

/**
 * Takes due pushes, at most `each` of an account, accounts in turn, until `until`; later another process may take them over. A hanging
 * receiver gets one at a time.
 */
export const takePushes = (
  sql: Sql,
  { busy, lateAccounts, hanging, underway, isLate, limit }: Wanted,
  { each, now, until }: { readonly each: number; readonly now: Date; readonly until: Date },
): Promise<PushRow[]> =>
  sql.query<PushRow>(
    'take-pushes',
    `with due as (
       select p.task_id, p.id, row_number() over (partition by p.account_id order by p.next_at) as nth from (
         select p.task_id, p.id, p.account_id, p.next_at, ${receiver} = any($8) as hangs,
                row_number() over (partition by ${receiver} order by p.next_at) as place
           from a2a_push p join invocation v on v.id = p.task_id
          where p.is_open and p.next_at <= $1 and p.told <> v.status || case v.status when 'input_required' then ':' || v.turn else '' end and not (p.account_id = any($3)) and (p.account_id = any($6)) = $7
            and not (${receiver} = any($8) and ${receiver} = any($9))
       ) p where p.place = 1 or not p.hangs
     ), taken as (
       select p.task_id, p.id from a2a_push p join due using (task_id, id)
        where due.nth <= $4 and p.is_open and p.next_at <= $1 order by due.nth, p.next_at limit $5 for update of p skip locked
     )
     update a2a_push p set next_at = $2 from taken t where p.task_id = t.task_id and p.id = t.id returning ${columns}`,
    [now, until, busy, each, limit, lateAccounts, isLate, hanging, underway],
  );

/** State of a push after an attempt. */
interface PushState extends Pick<PushRow, 'told' | 'tries'> {
  /** null: all states were pushed, or the push was given up. */
  readonly nextAt: Date | null;
}

/** Records an attempt; false if the push was changed since, so its new address has not received the message. */
export async function recordPushAttempt(sql: Sql, before: PushRow, after: PushState): Promise<boolean> {
  const { taskId, id, told, sealed } = before;
  const rows = await sql.query(
    'record-push-attempt',
    `update a2a_push set told = $5, tries = $6, next_at = coalesce($7::timestamptz, next_at), is_open = is_open and $7::timestamptz is not null
      where task_id = $1 and id = $2 and told = $3 and sealed = $4 returning id`,
    [taskId, id, told, sealed, after.told, after.tries, after.nextAt],
  );
  return rows.length > 0;
}

/**
 * Removes configurations older than this, of tasks that were not paid and can't be any more. They take up the account's limit, and have
 * stayed due since they were written.
 */
export async function removeUnpaidPushes(
  sql: Sql,
  { before, now, most }: { readonly before: Date; readonly now: Date; readonly most: number },
): Promise<number> {
  const rows = await sql.query(
    'remove-unpaid-pushes',
    `delete from a2a_push where is_open and next_at < $1 and (task_id, id) in (
       select p.task_id, p.id from a2a_push p
        where p.is_open and p.next_at < $1 and not exists (select 1 from invocation v where v.id = p.task_id)
          and not exists (select 1 from unpaid_task u where u.id = p.task_id and u.expires_at > $2)
        order by p.next_at limit $3
     ) returning id`,
    [before, now, most],
  );
  return rows.length;
}

/** Removes those that are over and old, and all that are older. */
export async function removeOldPushes(sql: Sql, over: Date, all: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-old-pushes',
    `delete from a2a_push where (task_id, id) in (
       select task_id, id from a2a_push where created_at < $1 and (not is_open or created_at < $2) order by created_at limit $3
     ) returning id`,
    [over, all, most],
  );
  return rows.length;
}
