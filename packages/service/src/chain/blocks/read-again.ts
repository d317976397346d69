/** Blocks that every read goes back. */
const ALWAYS = 12n;
/** Whenever the chain has passed a multiple of one of these, its last two stretches of that length are read again. */
const STRETCHES = [64n, 1024n];

/**
 * Where a read of the logs of the blocks after one, up to another at the head of the chain, begins: before the new ones. An RPC node may return
 * the logs of its newest blocks late, and says nothing of it, so every block is read again: with each of the next blocks, then at least 64 and at
 * least 1,024 blocks deep (on Base after some two minutes and half an hour). What is read twice changes nothing.
 */
export function readAgainFrom(after: bigint, to: bigint): bigint {
  const begins = STRETCHES.flatMap((length) =>
    after / length < to / length ? [(after / length) * length - length] : [],
  );
  const from = begins.reduce((least, each) => (each < least ? each : least), after - ALWAYS + 1n);
  return from > 0n ? from : 0n;
}
