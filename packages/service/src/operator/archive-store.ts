import type { Sql } from '../store/sql.ts';

/** The archive of WAL as PostgreSQL itself sees it: a base backup needs it to be restored to any second. */
export interface ArchiveRow {
  readonly mode: string;
  readonly archived: number;
  readonly failed: number;
  readonly lastArchivedAt: Date | null;
  readonly lastFailedAt: Date | null;
  readonly now: Date;
}

export async function readArchive(sql: Sql): Promise<ArchiveRow> {
  const [row] = await sql.query<ArchiveRow>(
    'read-archive',
    `select current_setting('archive_mode') as mode, archived_count::int as archived, failed_count::int as failed,
            last_archived_time as "lastArchivedAt", last_failed_time as "lastFailedAt", clock_timestamp() as now
       from pg_stat_archiver`,
  );
  if (!row) throw new Error('the database says nothing of its archive');
  return row;
}
