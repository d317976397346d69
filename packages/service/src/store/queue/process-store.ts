import type { EventLoopDelay } from '../../lib/process/event-loop-delay.ts';
import { run, type Sql, type Statement, type Tx } from '../sql.ts';

/** Age of the last heartbeat (database clock) after which a process is dead. */
const DEAD_AFTER = `interval '10 seconds'`;

/** Facts that a process announces once. */
export interface ProcessSelf {
  readonly label: string;
  /** Host name and port. */
  readonly place?: string;
  readonly version?: string;
  /** Newest migration that its code has. */
  readonly schemaVersion?: number;
}

export interface NewProcess extends ProcessSelf {
  readonly id: string;
  /** Kept from the row before, as the database wrote it: a process that was declared dead is still asked to drain. */
  readonly drainAskedAt: string | null;
}

export async function insertProcess(sql: Sql, row: NewProcess): Promise<void> {
  await sql.query(
    'process-insert',
    `insert into process (id, label, place, version, schema_version, drain_asked_at)
     values ($1, $2, $3, $4, $5, $6::timestamptz)`,
    [row.id, row.label, row.place, row.version, row.schemaVersion, row.drainAskedAt],
  );
}

export interface Beat {
  readonly delay: EventLoopDelay;
  /** null: it does not drain. */
  readonly openWork: object | null;
  readonly isRefusing: boolean;
}

export interface HeartbeatAnswer {
  /** An operator asked this process to drain; as the database wrote it. */
  readonly drainAskedAt: string | null;
  /** Name of the migration that removed something this version uses. */
  readonly outdatedBy: string | null;
  /** True if a process has shown no heartbeat for too long. */
  readonly hasDead: boolean;
}

/**
 * SQL: the migration that removed something a version of the code uses. schema_migration has no `needs` before the first such migration.
 */
const outdatedBy = (version: string) =>
  `(select m.name from schema_migration m where (to_jsonb(m) ->> 'needs')::integer > ${version}::integer order by m.version desc limit 1)`;

export async function findOutdating(sql: Sql, schemaVersion: number): Promise<string | null> {
  const [row] = await sql.query<{ name: string | null }>('process-outdated', `select ${outdatedBy('$1')} as name`, [
    schemaVersion,
  ]);
  return row?.name ?? null;
}

/** Returns null when the row is gone: another process declared this one dead. */
export async function touchProcess(sql: Sql, id: string, beat: Beat): Promise<HeartbeatAnswer | null> {
  const { delay, openWork, isRefusing } = beat;
  const [told] = await sql.query<HeartbeatAnswer>(
    'process-touch',
    `update process set seen_at = clock_timestamp(), event_loop_delay_ms = $2, open_work = $3,
            draining_since = case when $4 then coalesce(draining_since, clock_timestamp()) end
      where id = $1 returning drain_asked_at::text as "drainAskedAt", ${outdatedBy('schema_version')} as "outdatedBy",
            exists (select from process p where p.seen_at < clock_timestamp() - ${DEAD_AFTER}) as "hasDead"`,
    [id, [delay.p50Ms, delay.p99Ms, delay.maxMs], openWork && JSON.stringify(openWork), isRefusing],
  );
  return told ?? null;
}

/** Removes one dead process. Of several callers exactly one succeeds. */
export async function takeDeadProcess(tx: Tx): Promise<{ id: string; label: string } | undefined> {
  const [dead] = await tx.query<{ id: string; label: string }>(
    'process-take-dead',
    `delete from process where id = (
       select id from process where seen_at < clock_timestamp() - ${DEAD_AFTER}
        order by seen_at limit 1 for update skip locked)
     returning id, label`,
  );
  return dead;
}

/** Removes this process; returns false when it is already removed. */
export async function removeProcess(tx: Tx, id: string): Promise<boolean> {
  const removed = await tx.query('process-remove', 'delete from process where id = $1 returning id', [id]);
  return removed.length > 0;
}

/** Processes among these that are gone, or may be declared dead within two seconds. */
export async function findSilent(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const silent: Statement<{ id: string }> = { name: 'process-silent', text: SILENT, params: [ids] };
  return (await run(sql, silent)).map(({ id }) => id);
}

/** Flush guard that fails if any of these processes is silent. */
export const noneSilent = (ids: readonly string[]): Statement => ({
  name: 'process-none-silent',
  text: `select require_true(not exists (${SILENT}))`,
  params: [ids],
});

const SILENT = `select w.id from unnest($1::uuid[]) w(id)
  where not exists (select from process p where p.id = w.id and p.seen_at > clock_timestamp() - ${DEAD_AFTER} + interval '2 seconds')`;
