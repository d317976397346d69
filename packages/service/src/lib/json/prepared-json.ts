import { randomBytes } from 'node:crypto';

type Piece = string | Uint8Array;

/** Marks the place of a prepared value in encoded text. Random, so that no value of a caller contains it. */
const MARK = randomBytes(18).toString('base64url');

/** Prepared values of the encoding in progress, in the order of the text; null between encodings. */
let collected: PreparedJson[] | null = null;

/**
 * JSON that exists as text or bytes already, from the database or prepared earlier. `encodeJson` copies its pieces anywhere in a value,
 * neither parsing nor encoding them again. `JSON.stringify` gives the same JSON, but slowly.
 */
export class PreparedJson {
  readonly pieces: readonly Piece[];

  /** The pieces together must be one valid JSON value. */
  constructor(...pieces: readonly Piece[]) {
    this.pieces = pieces;
  }

  get bytes(): number {
    return this.pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  }

  get value(): unknown {
    return JSON.parse(this.pieces.map(textOf).join(''));
  }

  /** Called by JSON.stringify. */
  toJSON(): unknown {
    if (!collected) return this.value;
    collected.push(this);
    return MARK;
  }
}

const COMMA = Buffer.from(',');

/** An array of values that are serialized already. */
export function preparedArray(items: readonly (PreparedJson | Piece)[]): PreparedJson {
  const pieces: Piece[] = ['['];
  for (const [index, item] of items.entries()) {
    if (index > 0) pieces.push(COMMA);
    if (item instanceof PreparedJson) pieces.push(...item.pieces);
    else pieces.push(item);
  }
  pieces.push(']');
  return new PreparedJson(...pieces);
}

/** Encodes a value: to bytes if it has prepared values, else to a string. */
export function encodeJson(value: unknown): string | Buffer<ArrayBuffer> {
  const pieces = encodePieces(value);
  return pieces.length === 1 ? (pieces[0] as string) : joined(pieces);
}

/** Encodes a value to be part of another: prepared parts are copied once, when the whole is encoded. */
export const prepareJson = (value: unknown): PreparedJson => new PreparedJson(...encodePieces(value));

/** One piece for a value without prepared ones, else more. */
function encodePieces(value: unknown): Piece[] {
  const outer = collected;
  const found: PreparedJson[] = [];
  collected = found;
  let text: string;
  try {
    text = JSON.stringify(value);
  } finally {
    collected = outer;
  }
  if (found.length === 0) return [text];
  const between = text.split(`"${MARK}"`);
  const pieces: Piece[] = [between[0] ?? ''];
  for (const [index, { pieces: own }] of found.entries()) pieces.push(...own, between[index + 1] ?? '');
  return pieces;
}

/** Writes the pieces into one buffer. */
export function joined(pieces: readonly Piece[]): Buffer<ArrayBuffer> {
  let bytes = 0;
  for (const piece of pieces) bytes += Buffer.byteLength(piece);
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += whole.write(piece, at);
    else {
      whole.set(piece, at);
      at += piece.byteLength;
    }
  }
  return whole;
}

const textOf = (piece: Piece): string => (typeof piece === 'string' ? piece : Buffer.from(piece).toString());
