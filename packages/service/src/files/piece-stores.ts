import type { BucketSettings, FileStoreName } from '../config/files.ts';
import type { Database } from '../store/database.ts';
import { bucketFetch, createBucketStore } from './bucket-client.ts';
import { createDatabaseStore } from './database-piece-store.ts';
import { createDiskStore } from './disk-store.ts';
import type { PieceStore, PieceStores } from './file.ts';

interface StoreSettings {
  readonly fileStore: FileStoreName;
  readonly filesDir: string;
  readonly filesBucket: BucketSettings | null;
}

export function createPieceStores(
  { fileStore, filesDir, filesBucket }: StoreSettings,
  { db }: { readonly db: Database },
): PieceStores {
  const fetch = filesBucket && bucketFetch();
  const stores: Readonly<Record<FileStoreName, PieceStore | null>> = {
    postgres: createDatabaseStore(db),
    disk: createDiskStore(filesDir),
    s3: filesBucket && fetch && createBucketStore(filesBucket, fetch),
  };
  const current = stores[fileStore];
  if (!current) throw new Error(`Invariant broken: the store ${fileStore} has no settings`);
  return { current, of: (name) => stores[name], close: async () => fetch?.close() };
}
