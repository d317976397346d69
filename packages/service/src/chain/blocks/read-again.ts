/** Number of blocks that every read goes back. */
const ALWAYS = 12n;
/** Whenever the chain has passed a multiple of one of these, its last two stretches of that length are read again. */
const STRETCHES = [64n, 1024n];

/**
 * First block to read the logs from, for the blocks after `after` up to `to` at the head; it lies before the new ones. An RPC node may
 * return the logs of its newest blocks late without saying so, so every block is read again: with each of the next blocks, then at least 64
 * and at least 1,024 blocks deep (on Base after about two minutes and half an hour). Reading a block twice changes nothing.
 */
export function readAgainFrom(after: bigint, to: bigint): bigint {
  const begins = STRETCHES.flatMap((length) =>
    after / length < to / length ? [(after / length) * length - length] : [],
  );
  const from = begins.reduce((least, each) => (each < least ? each : least), after - ALWAYS + 1n);
  return from > 0n ? from : 0n;
}
