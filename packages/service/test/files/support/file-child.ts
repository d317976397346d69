import type { KnownCaller } from '../../../src/accounts/caller.ts';
import type { BucketSettings, FileStoreName } from '../../../src/config/files.ts';
import { createPieceStores } from '../../../src/files/piece-stores.ts';
import { deleteFile } from '../../../src/files/read-file.ts';
import { receiveFile } from '../../../src/files/receive-file.ts';
import { removeFiles } from '../../../src/files/remove-files.ts';
import { createUploadRoom } from '../../../src/files/upload-room.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { armFailpoint, parseFailpoint } from '../../../src/lib/process/failpoint.ts';
import { createSecrets } from '../../../src/lib/secrets.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { openDatabase } from '../../../src/store/database.ts';

/** What a process of the node does with a file before it dies. */
export interface Work {
  readonly databaseUrl: string;
  readonly fileStore: FileStoreName;
  readonly filesDir: string;
  readonly filesBucket: BucketSettings;
  readonly failpoint: string;
  readonly caller: KnownCaller;
  readonly sha256: string;
  readonly size: number;
  /** The text that the content repeats. */
  readonly text: string;
}

const work = JSON.parse(process.env.WORK ?? '') as Work;
const db = openDatabase(work.databaseUrl, { log: silentLog, max: 2 });
const ctx = {
  ...{ db, log: silentLog, clock: systemClock, maxFileBytes: 1e9, filesBaseUrl: 'http://127.0.0.1' },
  storageLimits: { free: 1e9, pro: 1e9, enterprise: 1e9, node: 1e9 },
  secrets: createSecrets('of no use here: nothing is signed'),
  pieceStores: createPieceStores(work, { db }),
  uploadRoom: createUploadRoom(1e9),
};

const armed = parseFailpoint(work.failpoint);
if (!armed) throw new Error(`there is no failpoint ${work.failpoint}`);
armFailpoint(armed);
const bytes = Buffer.alloc(work.size, work.text);
await receiveFile(
  ctx,
  work.caller,
  {
    sha256: Buffer.from(work.sha256, 'hex'),
    size: bytes.byteLength,
    mediaType: 'image/png',
    name: null,
    lifeS: 3600,
    network: '',
  },
  {
    async *pieces() {
      yield bytes;
    },
    arrived: async () => undefined,
  },
);
await deleteFile(ctx, work.caller, work.sha256);
await removeFiles(ctx);
