import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileStoreName } from '../../src/config/files.ts';
import { createPieceStores } from '../../src/files/piece-stores.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import {
  holdRemovals,
  newContent,
  nothingStored,
  processWith,
  removeNow,
  sha256Of,
  storedFiles,
} from './support/file-actions.ts';
import { startTestBucket, type TestBucket } from './support/test-bucket.ts';

const TEN_MB = 10_000_000;

let h: Harness;
let bucket: TestBucket;
let filesDir: string;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  [h, bucket, filesDir] = await Promise.all([startHarness(), startTestBucket(), mkdtemp(join(tmpdir(), 'files-'))]);
  await holdRemovals(h);
});
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await bucket.stop();
  await rm(filesDir, { recursive: true });
  await h.stop();
});

const storesWith = (fileStore: FileStoreName) => {
  const stores = createPieceStores({ fileStore, filesDir, filesBucket: bucket.settings }, h.ctx);
  closing.push(() => stores.close());
  return stores;
};

/** What each store has, by the keys that it knows. */
const onDisk = async () => (await readdir(filesDir, { recursive: true })).filter((path) => /\/\d+$/.test(path));
const kept: Record<FileStoreName, (accountId: string) => Promise<number>> = {
  postgres: async (accountId) => (await storedFiles(h, accountId))?.pieces ?? 0,
  disk: async () => (await onDisk()).length,
  s3: async () => bucket.objects.size,
};

/** Replaces one byte in the middle of the second piece. */
const spoil: Record<FileStoreName, () => Promise<void>> = {
  async postgres() {
    await h.ctx.db.query(
      '',
      'update file_piece set bytes = set_byte(bytes, 9, get_byte(bytes, 9) # 1) where position = 1',
    );
  },
  async disk() {
    for (const path of (await onDisk()).filter((each) => each.endsWith('/1'))) {
      const bytes = await readFile(join(filesDir, path));
      bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9);
      await writeFile(join(filesDir, path), bytes);
    }
  },
  async s3() {
    for (const [key, bytes] of bucket.objects) if (key.endsWith('/1')) bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9);
  },
};

describe.each(['postgres', 'disk', 's3'] as const)('the store "%s"', (name) => {
  let node: ReturnType<typeof processWith>;
  let account: TestAccount;
  beforeAll(async () => {
    node = processWith(h, { pieceStores: storesWith(name) });
    account = await h.newAccount();
  });

  it('takes and gives 10 MB, whole and in ranges, and has nothing left of a deleted file', async () => {
    const { key, accountId } = account;
    const body = newContent(TEN_MB);
    const path = `/files/${sha256Of(body)}`;
    expect((await node.call('PUT', path, { key, body })).status).toBe(201);
    expect((await node.call('GET', `${path}/content`, { key })).bytes.equals(body)).toBe(true);
    for (const [from, before] of [
      [0, 1],
      [262_143, 262_145],
      [1_048_570, 3_500_000],
      [TEN_MB - 1, TEN_MB],
    ] as const) {
      const headers = { range: `bytes=${from}-${before - 1}` };
      const { status, bytes } = await node.call('GET', `${path}/content`, { key, headers });
      expect([status, bytes.equals(body.subarray(from, before))]).toEqual([206, true]);
    }
    expect((await node.call('DELETE', path, { key })).status).toBe(200);
    await removeNow({ ctx: { ...h.ctx, pieceStores: storesWith(name) } });
    expect(await storedFiles(h, accountId)).toEqual(nothingStored);
    expect(await kept[name](accountId)).toBe(0);
  });

  it('has a spoiled piece detected before a byte of it is sent', async () => {
    const { key } = account;
    const body = newContent(2_500_000);
    const path = `/files/${sha256Of(body)}`;
    await node.call('PUT', path, { key, body });
    await spoil[name]();
    const headers = { range: `bytes=${name === 'postgres' ? 262_144 : 1_048_576}-2499999` };
    const spoiled = await node.call('GET', `${path}/content`, { key, headers });
    expect([spoiled.status, spoiled.body?.error.code]).toEqual([410, 'FILE_GONE']);
    // What is before it is still read.
    const first = await node.call('GET', `${path}/content`, { key, headers: { range: 'bytes=0-99' } });
    expect([first.status, first.bytes.equals(body.subarray(0, 100))]).toEqual([206, true]);
    expect((await node.call('PUT', path, { key, body })).status).toBe(200);
    await node.call('DELETE', path, { key });
    await removeNow({ ctx: { ...h.ctx, pieceStores: storesWith(name) } });
  });
});

it('a restored database whose contents are lost says so: 410, and an upload mends nothing of others', async () => {
  const { key } = await h.newAccount();
  const node = processWith(h, { pieceStores: storesWith('s3') });
  const body = newContent(3000);
  const path = `/files/${sha256Of(body)}`;
  await node.call('PUT', path, { key, body });
  bucket.objects.clear();
  const lost = await node.call('GET', `${path}/content`, { key });
  expect([lost.status, lost.body?.error.code]).toEqual([410, 'FILE_GONE']);
  // A process without the bucket's settings has lost it, too.
  const without = createPieceStores({ fileStore: 'postgres', filesDir, filesBucket: null }, h.ctx);
  expect((await processWith(h, { pieceStores: without }).call('GET', `${path}/content`, { key })).status).toBe(410);
  await node.call('DELETE', path, { key });
});

it('a bucket that fails for a moment is asked again; one that stays away is UNAVAILABLE, and nothing is kept or counted', async () => {
  const { key, accountId } = await h.newAccount();
  const node = processWith(h, { pieceStores: storesWith('s3') });
  const body = newContent(3000);
  const path = `/files/${sha256Of(body)}`;
  bucket.failNext(2);
  expect((await node.call('PUT', path, { key, body })).status).toBe(201);
  await node.call('DELETE', path, { key });
  bucket.failNext(3);
  const away = await node.call('PUT', path, { key, body });
  expect([away.status, away.body?.error.code]).toEqual([503, 'UNAVAILABLE']);
  expect((await storedFiles(h, accountId))?.counted).toBe(0);
  bucket.failNext(0);
  const kept = async () => {
    // The node of these tests, which has no bucket, may have claimed the removal for some minutes.
    await h.ctx.db.query('', `update file_blob set due_at = $1 where state = 'leaving'`, [h.ctx.clock.now()]);
    await removeNow({ ctx: { ...h.ctx, pieceStores: storesWith('s3') } });
    return storedFiles(h, accountId);
  };
  // The upload is given up after its answer.
  await expect.poll(kept).toEqual(nothingStored);
});

it('a content that cannot be removed now keeps its row, and is removed later', async () => {
  const { key, accountId } = await h.newAccount();
  const stores = storesWith('s3');
  const node = processWith(h, { pieceStores: stores });
  const body = newContent(3000);
  await node.call('PUT', `/files/${sha256Of(body)}`, { key, body });
  await node.call('DELETE', `/files/${sha256Of(body)}`, { key });
  bucket.failNext(3);
  await removeNow({ ctx: { ...h.ctx, pieceStores: stores } });
  expect(await storedFiles(h, accountId)).toEqual({ ...nothingStored, blobs: 1 });
  await h.ctx.db.query('', `update file_blob set due_at = now() where account_id = $1`, [accountId]);
  await removeNow({ ctx: { ...h.ctx, pieceStores: stores } });
  expect(await storedFiles(h, accountId)).toEqual(nothingStored);
});
