import type { Hex, PublicClient, RpcLog, TransactionReceipt } from 'viem';

/** Receipts asked for at a time: a block may have thousands. */
const AT_ONCE = 200;

/** The receipts of the transactions that wrote these logs, in their order. Throws when a transaction moved to another block meanwhile. */
export async function receiptsOfLogs(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  logs: readonly RpcLog[],
): Promise<TransactionReceipt[]> {
  const blockOf = new Map(logs.map((log) => [log.transactionHash as Hex, log.blockHash as Hex]));
  const hashes = [...blockOf.keys()];
  const receipts: TransactionReceipt[] = [];
  for (let start = 0; start < hashes.length; start += AT_ONCE) {
    const some = hashes.slice(start, start + AT_ONCE);
    receipts.push(...(await Promise.all(some.map((hash) => client.getTransactionReceipt({ hash })))));
  }
  for (const [index, hash] of hashes.entries()) {
    const receipt = receipts[index];
    if (receipt?.transactionHash !== hash)
      throw new Error('the RPC node answered with the receipt of another transaction');
    if (receipt.blockHash !== blockOf.get(hash))
      throw new Error(`transaction ${hash} moved to another block while it was read`);
  }
  return receipts;
}

/** True if a transfer moved something: everybody may log transfers of nothing, to and from every wallet. */
export const movesMoney = ({ data }: RpcLog): boolean => BigInt(data === '0x' ? 0 : data) > 0n;
