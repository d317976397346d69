/** Answers of more bytes are sent in pieces. */
export const PIECE_BYTES = 64 * 1024;
/** Pieces that leave in one turn of the event loop, of all large answers together. */
const PIECES_OF_TURN = 2;

/** Spreads work over turns of the event loop, a few callers in each: the groups in rotation, each in order of arrival. */
export function createSendTurns(): (group: string) => Promise<void> {
  const lines = new Map<string, (() => void)[]>();
  const goOn = () => {
    for (let nth = 0; nth < PIECES_OF_TURN; nth++) {
      const first = lines.entries().next().value;
      if (!first) return;
      const [group, line] = first;
      lines.delete(group);
      line.shift()?.();
      if (line.length > 0) lines.set(group, line);
    }
    if (lines.size > 0) setImmediate(goOn);
  };
  return (group) =>
    new Promise((resolve) => {
      if (lines.size === 0) setImmediate(goOn);
      const line = lines.get(group);
      if (line) line.push(resolve);
      else lines.set(group, [resolve]);
    });
}

/** Shared by the process, like the event loop. */
export const sendTurn = createSendTurns();

/**
 * Bytes as a body that leaves in pieces, as the client takes them, with other work in between: a write of a megabyte takes the event loop
 * for 10 ms. Clients of one `group` (a network address) share their turns. The answer needs `content-length`.
 */
export function largeBody(
  bytes: Uint8Array<ArrayBuffer>,
  group: string,
  turn: (group: string) => Promise<void> = sendTurn,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        await turn(group);
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        at += piece.byteLength;
        controller.enqueue(piece);
        if (at >= bytes.byteLength) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
