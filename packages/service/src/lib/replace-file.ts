import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomHex } from './random-hex.ts';

export interface ReplaceFileOptions {
  /** Owner of the file; default: the user of this process. Only root may set another. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Replaces a file atomically, readable by its owner only. Readers, also after a crash or a power cut, find the whole old or the whole new
 * text; once this resolves, the new one. Processes that write at the same time do not mix their texts.
 */
export async function replaceFile(
  path: string,
  text: string | Uint8Array,
  { owner }: ReplaceFileOptions = {},
): Promise<void> {
  // Processes in containers share the folder, and may have the same number.
  const draft = `${path}.${randomHex(8)}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      if (owner) await file.chown(owner.uid, owner.gid);
      await file.writeFile(text);
      // Before it takes the place of the file: after a power cut, an empty one would stand there.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Errors of file systems that cannot sync a folder, and of Windows, which opens none. */
const CANNOT_SYNC = new Set(['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM']);

/** The new name is on disk from then on, where the file system has a way to ask for it. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (!CANNOT_SYNC.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
