import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keepPromise, readPromise } from './promise-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-network-promise-'));
});
afterAll(() => rm(folder, { recursive: true }));

const promised = (position: bigint) => ({
  ...{ systemId: '7', timeline: 1, position, transactions: ['9'], acceptedAt: 0n },
});

it('processes that write at the same time leave one whole promise and nothing else', async () => {
  const path = join(folder, 'shared.json');
  await Promise.all(Array.from({ length: 20 }, (_, index) => keepPromise(path, promised(BigInt(index)))));
  await keepPromise(path, promised(100n));
  expect(await readPromise(path)).toEqual(promised(100n));
  expect(await readdir(folder)).toEqual(['shared.json']);
  await rm(path);
});

it('a file that was cut off is named, and never taken for no promise', async () => {
  const path = join(folder, 'cut.json');
  for (const text of ['', '{"systemId":"7"', '{}']) {
    await writeFile(path, text);
    await expect(readPromise(path)).rejects.toThrow(`${path} is not a file of acknowledged commits`);
    await expect(keepPromise(path, promised(1n))).rejects.toThrow(path);
  }
  await rm(path);
});
