import type pg from 'pg';
import type { ServerPosition } from './judge-server.ts';

/** A connection outside of the pools' own statements. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

const BYTES = `- '0/0'::pg_lsn)::text`;

/** Asks a server who it is, how far it is, and which of the transactions it has not committed. */
export async function readPosition(client: Queryable, transactions: readonly string[]): Promise<ServerPosition> {
  const { rows } = await client.query<{
    systemId: string;
    isStandby: boolean;
    isPromising: boolean;
    segment: string | null;
    position: string | null;
    replayedTo: string | null;
    missing: string[];
  }>(
    `select (pg_control_system()).system_identifier::text as "systemId",
            pg_is_in_recovery() as "isStandby",
            current_setting('synchronous_commit') <> 'off' as "isPromising",
            case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_insert_lsn()) end as segment,
            case when not pg_is_in_recovery() then (pg_current_wal_insert_lsn() ${BYTES} end as position,
            (pg_last_wal_replay_lsn() ${BYTES} as "replayedTo",
            array(select x::text from unnest($1::text[]::xid8[]) x
                   where case when x >= pg_snapshot_xmax(pg_current_snapshot()) then true
                              else pg_xact_status(x) <> 'committed' end) as missing`,
    [transactions],
  );
  const [row] = rows;
  if (!row) throw new Error('the database did not say where it stands');
  return {
    systemId: row.systemId,
    isStandby: row.isStandby,
    isPromising: row.isPromising,
    timeline: row.segment === null ? null : Number.parseInt(row.segment.slice(0, 8), 16),
    position: row.position === null ? null : BigInt(row.position),
    replayedTo: row.replayedTo === null ? null : BigInt(row.replayedTo),
    missing: row.missing,
  };
}

export interface Replication {
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
  readonly isFsync: boolean;
  readonly standbys: number;
  /** null: the node's role may not know (it needs `pg_monitor`). */
  readonly synchronousStandbys: number | null;
}

export async function readReplication(client: Queryable): Promise<Replication | null> {
  const { rows } = await client.query<Replication>(
    `select current_setting('synchronous_commit') as "synchronousCommit",
            current_setting('synchronous_standby_names') as "synchronousStandbyNames",
            current_setting('fsync') = 'on' as "isFsync",
            (select count(*)::int from pg_stat_replication) as standbys,
            (select case when count(*) = count(sync_state) then (count(*) filter (where sync_state in ('sync', 'quorum')))::int end
               from pg_stat_replication) as "synchronousStandbys"`,
  );
  return rows[0] ?? null;
}
