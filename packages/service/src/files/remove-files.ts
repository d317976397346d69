import { MINUTE_MS } from '../lib/duration.ts';
import { failpoint } from '../lib/process/failpoint.ts';
import { removeInSteps } from '../lib/retention.ts';
import type { FileServices } from './file-services.ts';
import { claimLeaving, deleteExpired, forgetBlob, giveUpLate, type LeavingBlob } from './file-store.ts';

/** Time after which a removal that did not end is tried again. */
const HOLD_MS = 5 * MINUTE_MS;
const AT_A_TIME = 8;

type RemovalContext = Pick<FileServices, 'db' | 'clock' | 'log' | 'pieceStores'>;

/**
 * Removes files at their end, uploads that did not become whole, and the contents of both from their stores. Each content has its row until
 * its last piece is removed, so that a process that dies here leaves nothing behind.
 */
export async function removeFiles(ctx: RemovalContext): Promise<void> {
  await removeInSteps((most) => deleteExpired(ctx.db, ctx.clock.now(), most));
  await removeInSteps((most) => giveUpLate(ctx.db, ctx.clock.now(), most));
  await removeInSteps(async () => {
    const now = ctx.clock.now();
    const until = new Date(now.getTime() + HOLD_MS);
    const blobs = await claimLeaving(ctx.db, { now, until, most: AT_A_TIME });
    for (const blob of blobs) await removeContent(ctx, blob);
    return blobs.length;
  });
}

async function removeContent({ db, log, pieceStores }: RemovalContext, blob: LeavingBlob): Promise<void> {
  const store = pieceStores.of(blob.store);
  try {
    if (!store) throw new Error(`the store ${blob.store} has no settings`);
    failpoint('before-file-remove');
    await store.remove(blob.id, blob.pieces);
    failpoint('after-file-remove');
    await forgetBlob(db, blob.id);
  } catch (err) {
    log.warn({ err, upload: blob.id, store: blob.store }, 'the content of a deleted file is removed later');
  }
}
