import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile } from './replace-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-network-replace-file-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a file that is replaced', () => {
  it('has the new text, and is readable by its owner only', async () => {
    const path = join(folder, 'secrets.json');
    await writeFile(path, 'old', { mode: 0o644 });
    await replaceFile(path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['secrets.json']);
  });

  it('by several at once has the whole text of one of them', async () => {
    const path = join(folder, 'secrets.json');
    const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000 * (index + 1)));
    await Promise.all(texts.map((text) => replaceFile(path, text)));
    expect(texts).toContain(await readFile(path, 'utf8'));
    expect(await readdir(folder)).toEqual(['secrets.json']);
  });

  it('belongs to the owner that was asked for', async () => {
    const path = join(folder, 'secrets.json');
    const { uid, gid } = await stat(folder);
    const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : { uid, gid };
    await replaceFile(path, 'new', { owner });
    expect(await stat(path)).toMatchObject(owner);
  });
});

it('a file that cannot be replaced stays as it was, and nothing is left beside it', async () => {
  const path = join(folder, 'a-folder');
  await writeFile(join(folder, 'other'), 'kept');
  await expect(replaceFile(join(path, 'secrets.json'), 'new')).rejects.toThrow('ENOENT');
  // A file cannot take the place of a folder.
  await expect(replaceFile(folder, 'new')).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['other']);
});
