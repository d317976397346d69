import type { PublicClient } from 'viem';

/** The RPC node that answered does not have all the blocks yet whose logs it was asked for. */
export class BehindError extends Error {}

/**
 * The logs that `ask` requests of blocks up to this one. Throws when the RPC node that answers is behind the block: it would answer with the
 * logs that it has, and those of the newest blocks would never be read. Of several nodes behind one address, one may be. Its height goes in
 * the same request (the client has to batch), before the logs.
 */
export async function logsUpTo<Logs>(
  client: Pick<PublicClient, 'request'>,
  toBlock: bigint,
  ask: () => Promise<Logs>,
): Promise<Logs> {
  const [head, logs] = await Promise.all([client.request({ method: 'eth_blockNumber' }), ask()]);
  if (BigInt(head) < toBlock)
    throw new BehindError(`the RPC node that was asked for logs up to block ${toBlock} is only at ${BigInt(head)}`);
  return logs;
}
