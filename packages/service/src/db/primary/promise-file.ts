import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
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
  const parsed = Stored.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`${path} is not a file of acknowledged commits`);
  return parsed.data;
}

/** Writes the later of the file's promise and ours, in one step; returns it. */
export async function keepPromise(path: string, own: Promised | null): Promise<Promised | null> {
  const stored = await readPromise(path);
  if (own === null) return stored;
  const later = stored === null ? own : laterOf(own, stored);
  if (later !== own) return later;
  const draft = `${path}.${process.pid}`;
  const text = JSON.stringify({ ...own, position: String(own.position), acceptedAt: String(own.acceptedAt) });
  await writeFile(draft, `${text}\n`, { mode: 0o600 });
  await rename(draft, path);
  return own;
}
