import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openChannelFile } from './file-storage.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'channel-file-'));
  path = join(folder, 'channels.json');
});
afterEach(() => rm(folder, { recursive: true }));

describe('a file of channels', () => {
  it('holds what was set when it is opened again, and leaves nothing else behind', async () => {
    const first = await openChannelFile(path);
    await Promise.all([first.set('a', '1'), first.set('b', '2'), first.set('a', '3')]);
    await first.close();
    const second = await openChannelFile(path);
    expect(await second.keys()).toEqual(['a', 'b']);
    expect([await second.get('a'), await second.get('b'), await second.get('c')]).toEqual(['3', '2', null]);
    await second.close();
    expect(await readdir(folder)).toEqual(['channels.json']);
  });

  it('is held by one at a time', async () => {
    const first = await openChannelFile(path);
    await expect(openChannelFile(path)).rejects.toThrow('in use');
    await first.close();
    await (await openChannelFile(path)).close();
  });

  it('is refused while another process holds it, and taken over from one that is gone', async () => {
    await writeFile(`${path}.lock`, `${process.ppid} other`);
    await expect(openChannelFile(path)).rejects.toThrow(`in use by process ${process.ppid}`);
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    await writeFile(`${path}.lock`, `${pid} gone`);
    const file = await openChannelFile(path);
    await file.set('a', '1');
    await file.close();
  });

  it('writes nothing once another process took its place', async () => {
    const file = await openChannelFile(path);
    await file.set('a', '1');
    await writeFile(`${path}.lock`, '1 other');
    await expect(file.set('a', '2')).rejects.toThrow('taken over');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ a: '1' });
    await file.close();
    expect(await readFile(`${path}.lock`, 'utf8')).toBe('1 other');
  });

  it('is not replaced by an empty one when it cannot be read', async () => {
    await writeFile(path, '{"a":');
    await expect(openChannelFile(path)).rejects.toThrow(SyntaxError);
    expect(await readdir(folder)).toEqual(['channels.json']);
    expect(await readFile(path, 'utf8')).toBe('{"a":');
  });
});
