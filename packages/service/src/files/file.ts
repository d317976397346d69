import type { FileStoreName } from '../config/files.ts';

/** A stored file, without its content. */
export interface FileRow {
  readonly ownerId: string;
  readonly sha256: Buffer;
  readonly blobId: string;
  readonly size: number;
  readonly mediaType: string;
  readonly name: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A file, with the place of its content. */
export interface FilePlace extends FileRow {
  readonly store: FileStoreName;
  readonly pieceBytes: number;
  /** SHA-256 of each piece, one after the other. */
  readonly pieceHashes: Buffer;
}

/** A stored content of a result. It becomes a file of the caller when its request completes. */
export interface ResultFile {
  readonly blobId: string;
  readonly ownerId: string;
  readonly sha256: Buffer;
  readonly size: number;
  readonly mediaType: string;
  readonly name: string | null;
  /** Time from which the file is removed, once it is one. */
  readonly expiresAt: Date;
}

/**
 * Keeps contents as pieces: all of a content but its last piece have the same length. A store need not be trusted: whoever reads checks the
 * hash of each piece.
 */
export interface PieceStore {
  readonly name: FileStoreName;
  /** Length of the pieces of new contents. */
  readonly pieceBytes: number;
  /** Keeps a piece for good once it resolves. The same piece may be put again. */
  put(blobId: string, position: number, bytes: Buffer): Promise<void>;
  /** null: it has no such piece. */
  get(blobId: string, position: number, maxBytes: number): Promise<Buffer | null>;
  /** Removes all pieces of a content; what is not there is no error. */
  remove(blobId: string, pieces: number): Promise<void>;
}

export interface PieceStores {
  /** The store of new contents. */
  readonly current: PieceStore;
  /** null: the node has no settings for it any more. */
  of(name: FileStoreName): PieceStore | null;
  close(): Promise<void>;
}
