import type { Sql, Tx } from '../db/sql.ts';
import type { EventLoopDelay } from '../lib/process/event-loop-delay.ts';

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
  readonly workerIds: readonly string[];
  /** Kept from the row before, as the database wrote it: a process that was declared dead is still asked to drain. */
  readonly drainAskedAt: string | null;
}

export async function insertProcess(sql: Sql, row: NewProcess): Promise<void> {
  await sql.query(
    'process-insert',
    `insert into process (id, worker_ids, label, place, version, schema_version, drain_asked_at)
     values ($1, $2, $3, $4, $5, $6, $7::timestamptz)`,
    [row.id, row.workerIds, row.label, row.place, row.version, row.schemaVersion, row.drainAskedAt],
  );
}

export interface Beat {
  readonly workerIds: readonly string[];
  readonly delay: EventLoopDelay;
  /** null: it does not drain. */
  readonly openWork: object | null;
  readonly isRefusing: boolean;
}

export interface HeartbeatAnswer {
  /** An operator asked this process to drain; as the database wrote it. */
  readonly drainAskedAt: string | null;
  /** Name of the migration that removed what this version uses. */
  readonly outdatedBy: string | null;
  /** True if a process has shown no heartbeat for too long. */
  readonly hasDead: boolean;
}

/** The migration that removed what a version of the code uses; schema_migration has no `needs` before the first that did. */
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
  const { workerIds, delay, openWork, isRefusing } = beat;
  const [told] = await sql.query<HeartbeatAnswer>(
    'process-touch',
    `update process set seen_at = clock_timestamp(), worker_ids = $2, event_loop_delay_ms = $3, open_work = $4,
            draining_since = case when $5 then coalesce(draining_since, clock_timestamp()) end
      where id = $1 returning drain_asked_at::text as "drainAskedAt", ${outdatedBy('schema_version')} as "outdatedBy",
            exists (select from process p where p.seen_at < clock_timestamp() - ${DEAD_AFTER}) as "hasDead"`,
    [id, workerIds, [delay.p50Ms, delay.p99Ms, delay.maxMs], openWork && JSON.stringify(openWork), isRefusing],
  );
  return told ?? null;
}

/** Removes one dead process and frees its jobs. Of several callers exactly one succeeds. */
export async function takeDeadProcess(tx: Tx): Promise<{ id: string; label: string } | undefined> {
  const [dead] = await tx.query<RemovedProcess>(
    'process-take-dead',
    `delete from process where id = (
       select id from process where seen_at < clock_timestamp() - ${DEAD_AFTER}
        order by seen_at limit 1 for update skip locked)
     returning id, label, worker_ids as "workerIds"`,
  );
  if (dead !== undefined) await unlockWorkers(tx, dead.workerIds);
  return dead;
}

/** Removes this process and frees its jobs; returns false when it is already removed. */
export async function removeProcess(tx: Tx, id: string): Promise<boolean> {
  const [removed] = await tx.query<RemovedProcess>(
    'process-remove',
    'delete from process where id = $1 returning id, label, worker_ids as "workerIds"',
    [id],
  );
  if (removed !== undefined) await unlockWorkers(tx, removed.workerIds);
  return removed !== undefined;
}

/** Those of these processes that are gone, or may be declared dead within two seconds. */
export async function findSilent(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'process-silent',
    `select w.id from unnest($1::uuid[]) w(id)
      where not exists (select from process p where p.id = w.id and p.seen_at > clock_timestamp() - ${DEAD_AFTER} + interval '2 seconds')`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

export async function unlockWorkers(sql: Sql, workerIds: readonly string[]): Promise<void> {
  await sql.query('queue-unlock-workers', 'select graphile_worker.force_unlock_workers($1)', [workerIds]);
}

/** Frees jobs that are locked by workers of no process: taken after the process was declared dead and before it noticed. */
export async function unlockOrphanedJobs(sql: Sql): Promise<void> {
  await sql.query(
    'queue-unlock-orphans',
    `select graphile_worker.force_unlock_workers(array(
       select distinct locked_by from graphile_worker.jobs
        where locked_at < clock_timestamp() - ${DEAD_AFTER}
          and not exists (select from process where locked_by = any (worker_ids))))`,
  );
}

interface RemovedProcess {
  id: string;
  label: string;
  workerIds: string[];
}

/** Overdue time of the oldest untaken job of these kinds; 0 without any. */
export async function oldestDueSeconds(sql: Sql, jobNames: readonly string[]): Promise<number> {
  const [row] = await sql.query<{ seconds: number }>(
    'queue-oldest-due',
    `select coalesce(extract(epoch from clock_timestamp() - min(j.run_at)), 0)::float8 as seconds
       from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
      where j.is_available and j.run_at <= clock_timestamp() and t.identifier = any($1)`,
    [jobNames],
  );
  return row?.seconds ?? 0;
}
