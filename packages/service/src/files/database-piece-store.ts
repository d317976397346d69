import type { Sql } from '../store/sql.ts';
import type { PieceStore } from './file.ts';

/** Rows of this size delay other statements by a millisecond or two. */
const PIECE_BYTES = 256 * 1024;
/** Pieces that one statement removes. */
const MAX_REMOVED = 64;

/** Contents in the database: its backups, replicas and processes have them. */
export const createDatabaseStore = (db: Sql): PieceStore => ({
  name: 'postgres',
  pieceBytes: PIECE_BYTES,
  async put(blobId, position, bytes) {
    await db.query(
      'put-file-piece',
      `insert into file_piece (blob_id, position, bytes) values ($1, $2, $3)
       on conflict (blob_id, position) do update set bytes = excluded.bytes`,
      [blobId, position, bytes],
    );
  },
  async get(blobId, position) {
    const [row] = await db.query<{ bytes: Buffer }>(
      'get-file-piece',
      'select bytes from file_piece where blob_id = $1 and position = $2',
      [blobId, position],
    );
    return row?.bytes ?? null;
  },
  async remove(blobId, pieces) {
    for (let from = 0; from < pieces; from += MAX_REMOVED)
      await db.query(
        'remove-file-pieces',
        'delete from file_piece where blob_id = $1 and position >= $2 and position < $3',
        [blobId, from, from + MAX_REMOVED],
      );
  },
});
