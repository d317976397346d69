import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile, syncFolder } from '../lib/replace-file.ts';
import type { PieceStore } from './file.ts';

const PIECE_BYTES = 1024 * 1024;

/** Ids are made by the node; nothing else becomes part of a path. */
const ID = /^[a-z]{3}_[0-9a-z]{26}$/;

/** Contents in a folder: one folder for each, in one of 1024 by its last characters. */
export function createDiskStore(dir: string): PieceStore {
  const folderOf = (blobId: string): string => {
    if (!ID.test(blobId)) throw new Error('Invariant broken: a content has an id of another form');
    return join(dir, blobId.slice(-2), blobId);
  };
  return {
    name: 'disk',
    pieceBytes: PIECE_BYTES,
    async put(blobId, position, bytes) {
      const folder = folderOf(blobId);
      if (position === 0) await makeFolder(folder);
      await replaceFile(join(folder, String(position)), bytes);
    },
    async get(blobId, position, maxBytes) {
      const path = join(folderOf(blobId), String(position));
      try {
        // Something else may have taken its place.
        const { size } = await stat(path);
        return size > maxBytes ? null : await readFile(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    remove: (blobId) => rm(folderOf(blobId), { recursive: true, force: true }),
  };
}

/** After a power cut the folder is there, as its pieces are. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await syncFolder(dirname(folder));
  await syncFolder(dirname(dirname(folder)));
}
