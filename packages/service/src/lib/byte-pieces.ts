/** Maximum pieces kept separately; each costs 100 bytes or more on top of its own. */
const MAX_APART = 256;

/** Maximum extra bytes that a piece may keep in memory around it. */
const MAX_AROUND = 1024;

/**
 * Pieces of a body, held in memory close to their size. The sender chooses the number of pieces, so many small ones are copied together; a
 * piece that keeps much more memory than itself (a view into a socket's buffer) is copied.
 */
export interface BytePieces {
  readonly byteLength: number;
  add(piece: Uint8Array): void;
  /** All bytes since they were last taken. */
  take(): Buffer;
}

export function createBytePieces(): BytePieces {
  let joined: Buffer[] = [];
  let apart: Uint8Array[] = [];
  let byteLength = 0;
  return {
    get byteLength() {
      return byteLength;
    },
    add(piece) {
      byteLength += piece.byteLength;
      const isView = piece.buffer.byteLength > 2 * piece.byteLength + MAX_AROUND;
      apart.push(isView ? new Uint8Array(piece) : piece);
      if (apart.length < MAX_APART) return;
      joined.push(Buffer.concat(apart));
      apart = [];
    },
    take() {
      const [first, ...others] = [...joined, ...apart];
      const whole =
        first && others.length === 0
          ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
          : Buffer.concat([...joined, ...apart]);
      joined = [];
      apart = [];
      byteLength = 0;
      return whole;
    },
  };
}
