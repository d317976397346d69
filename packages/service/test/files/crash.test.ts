import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileStoreName } from '../../src/config/files.ts';
import { createPieceStores } from '../../src/files/piece-stores.ts';
import { failpoints } from '../../src/lib/process/failpoint.ts';
import { bundled } from '../support/bundled.ts';
import { ofTheDay } from '../support/daily.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { holdRemovals, nothingStored, processWith, removeNow, sha256Of, storedFiles } from './support/file-actions.ts';
import type { Work } from './support/file-child.ts';
import { startTestBucket, type TestBucket } from './support/test-bucket.ts';

let h: Harness;
let bucket: TestBucket;
let filesDir: string;
beforeAll(async () => {
  [h, bucket, filesDir] = await Promise.all([startHarness(), startTestBucket(), mkdtemp(join(tmpdir(), 'files-'))]);
  await holdRemovals(h);
});
afterAll(async () => {
  await bucket.stop();
  await rm(filesDir, { recursive: true });
  await h.stop();
});

/** Uploads, deletes and removes a file in a process of its own, which dies at a place. Returns the signal that ended it. */
async function workAndDie(work: Work): Promise<unknown> {
  const child = fork(await bundled(join(import.meta.dirname, 'support/file-child.ts')), {
    env: { ...process.env, WORK: JSON.stringify(work) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [, signal] = await once(child, 'exit');
  return signal;
}

const countOnDisk = async () =>
  (await readdir(filesDir, { recursive: true })).filter((path) => /\/\d+/.test(path)).length;

/** Where a file is there after the death; at all other places it never was, or is gone. */
const isKept = new Set(['after-file-keep-commit', 'before-file-leave-commit']);
const places = failpoints
  .filter((name) => name.includes('-file-'))
  .flatMap((name) => (name.endsWith('-file-piece') ? [name, `${name}:2`, `${name}:3`] : [name]));

/** Deaths that leave something else in each store. At the others only the database has changed. */
const inStore = /before-file-piece:2|after-file-piece(:3)?$|after-file-(keep|leave)-commit|file-remove/;

describe.each(['postgres', 'disk', 's3'] as const)('in the store "%s"', (fileStore: FileStoreName) => {
  const tried = fileStore === 'postgres' ? places : places.filter((place) => inStore.test(place));
  it.each(ofTheDay(tried))(
    'a process that dies at %s leaves a whole file or none, and nothing that is not removed',
    async (failpoint) => {
      const { key, accountId } = await h.newAccount();
      const stores = createPieceStores({ fileStore, filesDir, filesBucket: bucket.settings }, h.ctx);
      const body = Buffer.alloc(fileStore === 'postgres' ? 600_000 : 2_500_000, accountId);
      const sha256 = sha256Of(body);
      const caller = { kind: 'account', accountId, plan: 'enterprise', node: null } as unknown as Work['caller'];
      const signal = await workAndDie({
        ...{ databaseUrl: h.databaseUrl, fileStore, filesDir, filesBucket: bucket.settings, failpoint, caller, sha256 },
        ...{ size: body.byteLength, text: accountId },
      });
      expect(signal).toBe('SIGKILL');
      const ctx = { ...h.ctx, pieceStores: stores };
      const node = processWith(h, { pieceStores: stores });
      const content = () => node.call('GET', `/files/${sha256}/content`, { key });
      const found = await content();
      expect(found.status).toBe(isKept.has(failpoint) ? 200 : 404);
      if (found.status === 200) expect(found.bytes.equals(body)).toBe(true);
      // As after its time.
      await h.ctx.db.query(
        '',
        `update file_blob set due_at = now() - interval '1 second' where account_id = $1 and state <> 'kept'`,
        [accountId],
      );
      await removeNow({ ctx });
      if (isKept.has(failpoint)) {
        expect((await content()).bytes.equals(body)).toBe(true);
        expect((await node.call('DELETE', `/files/${sha256}`, { key })).status).toBe(200);
        await removeNow({ ctx });
      }
      expect(await storedFiles(h, accountId)).toEqual(nothingStored);
      expect([await countOnDisk(), bucket.objects.size]).toEqual([0, 0]);
      await stores.close();
    },
  );
});
