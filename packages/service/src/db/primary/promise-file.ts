import { open, readFile, rename, rm } from 'node:fs/promises';
import { z } from 'zod';
import { randomHex } from '../../lib/random-hex.ts';
import { laterOf, type Promised } from './judge-server.ts';

const Stored = z.object({
  systemId: z.string(),
  timeline: z.int().min(1),
  position: z.string().regex(/^\d+$/).transform(BigInt),
  transactions: z.array(z.string().regex(/^\d+$/)),
  acceptedAt: z.string().regex(/^\d+$/).transform(BigInt),
});

/**
 * Reads the commits promised to processes of this machine, from a file that outlives them; null if there is none. Throws if it cannot be
 * read.
 */
export async function readPromise(path: string): Promise<Promised | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const parsed = Stored.safeParse(jsonOf(text));
  if (!parsed.success)
    throw new Error(
      `${path} is not a file of acknowledged commits; without it, the node does not know what it was promised`,
    );
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Writes the later of the file's promise and ours, in one step; returns it. */
export async function keepPromise(path: string, own: Promised | null): Promise<Promised | null> {
  const stored = await readPromise(path);
  if (own === null) return stored;
  const later = stored === null ? own : laterOf(own, stored);
  if (later !== own) return later;
  // Processes in containers share the folder, and may have the same number.
  const draft = `${path}.${randomHex(8)}`;
  const text = JSON.stringify({ ...own, position: String(own.position), acceptedAt: String(own.acceptedAt) });
  try {
    await writeSynced(draft, `${text}\n`);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return own;
}

/** On disk before it takes the place of the file: after a power cut, an empty one would stand there. */
async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
