import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { syncFolder } from './journal/sync-folder.ts';

/** A chain's saved states in one folder: the newest and the one before it. */
export type ChainStateStore = {
  /** True when a chain was once saved here: starting an empty one would lose money. */
  existed(): boolean;
  /** Saves gzipped state so that after a crash either it or its predecessor is intact on disk. */
  save(state: Buffer): Promise<void>;
  /** File names of the generations that exist, newest first. */
  generations(): string[];
  /** The text of one generation. Throws when it cannot be decompressed. */
  read(file: string): Promise<string>;
  /** Writes a state for anvil to load and returns its path. */
  writeLoadable(text: string): Promise<string>;
  removeLoadable(): Promise<void>;
};

const NEWEST = 'state.json.gz';
const PREVIOUS = 'state.previous.json.gz';
const MARKER = 'genesis.json';
const LOADABLE = 'loading.json';

/** Opens the folder of a chain's saved states, creating it if needed. */
export async function openChainStateStore(folder: string, now: () => Date): Promise<ChainStateStore> {
  await mkdir(folder, { recursive: true });
  const path = (file: string) => join(folder, file);
  return {
    existed: () => [MARKER, NEWEST, PREVIOUS].some((file) => existsSync(path(file))),
    save: async (state) => {
      await writeWhole(path(`${NEWEST}.new`), state);
      if (existsSync(path(NEWEST))) await rename(path(NEWEST), path(PREVIOUS));
      await rename(path(`${NEWEST}.new`), path(NEWEST));
      if (!existsSync(path(MARKER))) await writeWhole(path(MARKER), `${JSON.stringify({ createdAt: now() })}\n`);
      await syncFolder(folder);
    },
    generations: () => [NEWEST, PREVIOUS].filter((file) => existsSync(path(file))),
    read: async (file) => (await promisify(gunzip)(await readFile(path(file)))).toString('utf8'),
    writeLoadable: async (text) => {
      await writeWhole(path(LOADABLE), text);
      return path(LOADABLE);
    },
    removeLoadable: () => rm(path(LOADABLE), { force: true }),
  };
}

async function writeWhole(file: string, content: Buffer | string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
