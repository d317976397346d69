import type { Sql } from '../sql.ts';
import type { Changes, Topic } from './changes.ts';

/** View of one snapshot of the database. */
export interface SnapshotView {
  /** The snapshot, as PostgreSQL writes it. */
  readonly snapshot: string;
  /** The first transaction of this database that the snapshot may not see; all before it have ended. */
  readonly horizon: string;
  /** The timeline of the database's log: another one after a failover or a restore, which may have lost transactions. */
  readonly timeline: string;
  /** The running processes of the node. */
  readonly processes: number;
}

const SEEN = `pg_current_snapshot()::text as snapshot, first_open_transaction()::text as horizon,
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline, (select count(*)::int from process) as processes`;

/** The view of the snapshot of `sql`: of a transaction that is `repeatable read`, of every statement in it. */
export async function readSeen(sql: Sql): Promise<SnapshotView> {
  const [row] = await sql.query<SnapshotView>('replica-seen', `select ${SEEN}`);
  return row as SnapshotView;
}

export type News = SnapshotView & {
  readonly changes: Changes;
  /** True when changes that `before` does not see were already deleted. */
  readonly hasGap: boolean;
};

/**
 * Changes of transactions that this snapshot sees and `before` did not. Visibility depends on commits, not on the order of ids, so each
 * change is returned once, even behind a long transaction.
 */
export async function readNews(sql: Sql, before: SnapshotView): Promise<News> {
  const [row] = await sql.query<SnapshotView & { changes: Record<Topic, string[]> | null; hasGap: boolean }>(
    'replica-news',
    `select ${SEEN},
       (select json_object_agg(topic, ids) from (
          select topic, json_agg(distinct id) as ids from replica_change
           where xid >= $1::xid8 and not pg_visible_in_snapshot(xid, $2::pg_snapshot) group by topic) as news) as changes,
       (select xid >= $1::xid8 from replica_forgotten) as "hasGap"`,
    [before.horizon, before.snapshot],
  );
  const { changes, hasGap, ...seen } = row as NonNullable<typeof row>;
  return { ...seen, hasGap, changes: new Map(Object.entries(changes ?? {}) as [Topic, string[]][]) };
}

/** Deletes changes older than `ageMs` of transactions that are visible to all, at most `limit`. Returns the number deleted. */
export async function forgetChanges(sql: Sql, ageMs: number, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'replica-forget',
    `with gone as (
       delete from replica_change where ctid = any(array(
         select ctid from replica_change
          where xid < first_open_transaction()::text::xid8 and changed_at < clock_timestamp() - $1 * interval '1 millisecond'
          order by xid limit $2))
       returning xid
     ), noted as (
       update replica_forgotten set xid = last.xid from (select xid from gone order by xid desc limit 1) last
        where last.xid > replica_forgotten.xid
     )
     select count(*)::int as count from gone`,
    [ageMs, limit],
  );
  return row?.count ?? 0;
}

/**
 * Deletes changes of future transaction ids: a database restored from a dump counts from a lower number. Visible rows of a running database
 * never have such a number.
 */
export async function forgetRestored(sql: Sql): Promise<void> {
  await sql.query(
    'replica-forget-restored',
    'delete from replica_change where xid >= pg_snapshot_xmax(pg_current_snapshot())',
  );
  await sql.query(
    'replica-forget-restored-end',
    `update replica_forgotten set xid = '0' where xid >= pg_snapshot_xmax(pg_current_snapshot())`,
  );
}
