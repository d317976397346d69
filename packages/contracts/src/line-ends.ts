/**
 * Returns a function that takes a text in pieces and returns them with LF for each CR and CRLF, which end a line of server-sent events as
 * well. At each line of a piece that holds one CR, eventsource-parser looks through the rest of the piece for both: a hostile sender's
 * megabyte of CRs would take seconds.
 */
export function createLineEnds(): (piece: string) => string {
  let isAfterCr = false;
  return (piece) => {
    if (piece === '') return '';
    const text = isAfterCr && piece.startsWith('\n') ? piece.slice(1) : piece;
    isAfterCr = piece.endsWith('\r');
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  };
}
