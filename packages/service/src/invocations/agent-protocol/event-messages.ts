import { createBytePieces } from '../../lib/byte-pieces.ts';
import { createEventParser, type EventMessage } from '../../lib/net/event-parser.ts';
import { MAX_RESULT_BYTES } from './agent-answer.ts';

/** Bytes of an unfinished line that are parsed together. */
const LINE_PIECE_BYTES = 16 * 1024;
const [LF, CR] = [10, 13] as const;

/** Events of one piece of a stream. */
export interface MessagePart {
  readonly messages: readonly EventMessage[];
  /** An event of this piece exceeds the maximum length. */
  readonly isTooLarge: boolean;
}

/** Parses server-sent events as they arrive. `roomBytes`: allowance for the envelope of a result. */
export async function* messagesOf(bytes: AsyncIterable<Buffer>, roomBytes: number): AsyncGenerator<MessagePart> {
  const parser = createEventParser(MAX_RESULT_BYTES + roomBytes);
  const decoder = new TextDecoder();
  const pieces = createBytePieces();
  for await (const piece of bytes) {
    pieces.add(piece);
    const endsLine = piece.includes(LF) || piece.includes(CR);
    if (!endsLine && pieces.byteLength < LINE_PIECE_BYTES) continue;
    const messages = parser.feed(decoder.decode(pieces.take(), { stream: true }));
    yield { messages, isTooLarge: parser.isTooLarge() };
  }
}
