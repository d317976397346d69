import { readFile, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { randomHex } from '../../lib/random-hex.ts';
import { replaceFile } from '../../lib/replace-file.ts';
import { laterOf, type Promised } from './judge-server.ts';
import type { PrimaryGate } from './primary-gate.ts';

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

/** Writes the later of the file's promise and this process's, in one step; returns it. */
export async function keepPromise(path: string, own: Promised | null): Promise<Promised | null> {
  const known = await readPromise(path);
  if (own === null) return known;
  const later = known === null ? own : laterOf(own, known);
  if (later !== own) return later;
  const stored = { ...own, position: String(own.position), acceptedAt: String(own.acceptedAt) };
  await replaceFile(path, `${JSON.stringify(stored)}\n`);
  return own;
}

/**
 * At the start of a process, loads the promises to others on this machine into its gate. Throws if the file can't be read or written, as
 * later promises would be lost with this process.
 */
export async function recallPromise(gate: PrimaryGate, path: string): Promise<void> {
  const promised = await readPromise(path);
  const draft = `${path}.${randomHex(8)}`;
  await writeFile(draft, '', { flag: 'wx', mode: 0o600 }).catch((cause: Error) => {
    throw new Error(`DATABASE_PROMISE_FILE cannot be written: ${cause.message}`, { cause });
  });
  await rm(draft);
  if (promised) gate.recall(promised);
}
