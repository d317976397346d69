import type { Store } from '../database.ts';
import { forgetChanges } from './change-store.ts';

const AGE_MS = 600_000;
const BATCH = 10_000;

/** Deletes changes after ten minutes; a process that slept longer reloads everything. */
export async function forgetOldChanges({ db }: Store): Promise<void> {
  while ((await forgetChanges(db, AGE_MS, BATCH)) === BATCH);
}
