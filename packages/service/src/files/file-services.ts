import type { Limits } from '../config/limits.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { Log } from '../lib/telemetry/log.ts';
import type { Store } from '../store/database.ts';
import type { PieceStores } from './file.ts';
import type { UploadRoom } from './upload-room.ts';

/** Services that storing and reading files need. */
export interface FileServices extends Store {
  readonly log: Log;
  readonly secrets: Secrets;
  readonly pieceStores: PieceStores;
  readonly uploadRoom: UploadRoom;
  readonly storageLimits: Limits['storageLimits'];
  readonly maxFileBytes: number;
  /** Origin of links to contents. */
  readonly filesBaseUrl: string;
}
