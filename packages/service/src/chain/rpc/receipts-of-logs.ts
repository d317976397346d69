import type { Hex, PublicClient, RpcLog, TransactionReceipt } from 'viem';

/** Receipts asked for at a time: a block may have thousands. */
const AT_ONCE = 200;

/** What the transactions that wrote logs did, in the order of the logs. Throws when a transaction moved to another block meanwhile. */
export type ReceiptReads<Done> = (logs: readonly RpcLog[]) => Promise<Done[]>;

/**
 * Reads receipts with `parse`. Those that the read before had are not asked for again: blocks are read more than once, and what a transaction
 * did in a block of this hash does not change.
 */
export function createReceiptReads<Done>(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  parse: (receipt: TransactionReceipt) => readonly Done[],
): ReceiptReads<Done> {
  let known: ReadonlyMap<string, readonly Done[]> = new Map();

  async function readSome(places: readonly { hash: Hex; blockHash: Hex }[]): Promise<(readonly Done[])[]> {
    return Promise.all(
      places.map(async ({ hash, blockHash }) => {
        const receipt = await client.getTransactionReceipt({ hash });
        if (receipt.transactionHash !== hash)
          throw new Error('the RPC node answered with the receipt of another transaction');
        if (receipt.blockHash !== blockHash)
          throw new Error(`transaction ${hash} moved to another block while it was read`);
        return parse(receipt);
      }),
    );
  }

  return async (logs) => {
    const places = new Map(
      logs.map(({ transactionHash, blockHash }) => {
        const place = { hash: transactionHash as Hex, blockHash: blockHash as Hex };
        return [`${place.hash} ${place.blockHash}`, place] as const;
      }),
    );
    const read = new Map([...places.keys()].map((key) => [key, known.get(key)]));
    const missing = [...places].filter(([key]) => read.get(key) === undefined);
    for (let start = 0; start < missing.length; start += AT_ONCE) {
      const some = missing.slice(start, start + AT_ONCE);
      const done = await readSome(some.map(([, place]) => place));
      for (const [index, [key]] of some.entries()) read.set(key, done[index]);
    }
    known = read as Map<string, readonly Done[]>;
    return [...known.values()].flat();
  };
}

/** True if a transfer moved something: everybody may log transfers of nothing, to and from every wallet. */
export const movesMoney = ({ data }: RpcLog): boolean => BigInt(data === '0x' ? 0 : data) > 0n;
