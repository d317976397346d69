import type { ArchiveRow } from './archive-store.ts';

/** Maximum time without an archived segment, which is the data lost when a disk and the standbys are lost together. */
const OLDEST_MS = 10 * 60_000;

/** Faults of the WAL archive; empty: a backup can be restored to within minutes. */
export function archiveFaults({ mode, lastArchivedAt, lastFailedAt, now }: ArchiveRow): string[] {
  if (mode !== 'on' && mode !== 'always')
    return ['archive_mode is off: a restore loses everything since the last base backup'];
  if (lastArchivedAt === null) return ['no WAL segment has been archived yet'];
  const ageMs = now.getTime() - lastArchivedAt.getTime();
  return [
    ...(lastFailedAt && lastFailedAt > lastArchivedAt ? ['the last attempt to archive WAL failed'] : []),
    ...(ageMs > OLDEST_MS
      ? [`the last WAL segment was archived ${Math.round(ageMs / 60_000)} minutes ago; set archive_timeout`]
      : []),
  ];
}
