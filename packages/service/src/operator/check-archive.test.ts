import { expect, test } from 'vitest';
import { archiveFaults } from './check-archive.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const archive = { mode: 'on', archived: 3, failed: 0, lastArchivedAt: ago(1), lastFailedAt: null, now };

test('an archive is good while segments arrive', () => {
  expect(archiveFaults(archive)).toEqual([]);
  expect(archiveFaults({ ...archive, failed: 2, lastFailedAt: ago(5) })).toEqual([]);
});

test.each([
  [{ mode: 'off' }, /archive_mode is off/],
  [{ lastArchivedAt: null }, /no WAL segment/],
  [{ lastFailedAt: ago(0.5) }, /last attempt .* failed/],
  [{ lastArchivedAt: ago(11) }, /11 minutes ago/],
])('%o is a fault', (found, said) => {
  expect(archiveFaults({ ...archive, ...found })).toEqual([expect.stringMatching(said)]);
});
