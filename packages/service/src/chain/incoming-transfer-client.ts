import { createPublicClient, type Hex, pad, toEventHash, toHex } from 'viem';
import { logsUpTo } from './rpc/logs-up-to.ts';
import { rpcTransport } from './rpc/rpc-transport.ts';
import type { MinedTransaction } from './usdc-client.ts';
import { usdcEventsOf } from './usdc-events.ts';

/** A USDC transfer to the node's wallet, from the chain's logs. Addresses and hashes are lower case. */
export interface IncomingTransfer {
  readonly transactionHash: string;
  /**
   * Position among the transfers to the wallet within its transaction. Unlike a log index, it stays the same when a reorg moves the
   * transaction.
   */
  readonly ordinal: number;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly from: string;
  readonly valueMicro: bigint;
  /** Nonce of the EIP-3009 authorization that caused it; null for a plain transfer. */
  readonly nonce: string | null;
}

export interface IncomingTransfers {
  headBlock(): Promise<bigint>;
  /** Hash of the block at a height in the current chain; null above the head. */
  hashAt(block: bigint): Promise<string | null>;
  /** Reads all transfers in a range of blocks, in chain order. Throws when the chain does not answer, or changed during the read. */
  read(fromBlock: bigint, toBlock: bigint): Promise<IncomingTransfer[]>;
}

export interface HasIncomingTransfers {
  readonly incomingTransfers: IncomingTransfers;
}

const TRANSFER = toEventHash('Transfer(address,address,uint256)');

/** Reads the transfers to a wallet from the token's logs. */
export function createIncomingTransfers(options: { rpcUrl: string; token: string; wallet: string }): IncomingTransfers {
  const { token, wallet } = options;
  const client = createPublicClient({
    transport: rpcTransport(options.rpcUrl, { timeout: 10_000, retryCount: 1, batch: { batchSize: 50 } }),
  });

  const findLogs = (fromBlock: bigint, toBlock: bigint) =>
    client.request({
      method: 'eth_getLogs',
      params: [
        {
          address: token as Hex,
          topics: [TRANSFER, null, pad(wallet as Hex)],
          fromBlock: toHex(fromBlock),
          toBlock: toHex(toBlock),
        },
      ],
    });

  async function readTransaction(hash: Hex, blockHash: Hex): Promise<IncomingTransfer[]> {
    const receipt = await client.getTransactionReceipt({ hash });
    if (receipt.transactionHash !== hash)
      throw new Error('the RPC node answered with the receipt of another transaction');
    if (receipt.blockHash !== blockHash)
      throw new Error(`transaction ${hash} moved to another block while it was read`);
    return incomingIn({ ...receipt, hash }, token, wallet);
  }

  return {
    headBlock: () => client.getBlockNumber({ cacheTime: 0 }),
    async hashAt(block) {
      const found = await client.request({ method: 'eth_getBlockByNumber', params: [toHex(block), false] });
      return found?.hash ?? null;
    },
    async read(fromBlock, toBlock) {
      const logs = await logsUpTo(client, toBlock, () => findLogs(fromBlock, toBlock));
      const blockOf = new Map(logs.map((log) => [log.transactionHash as Hex, log.blockHash as Hex]));
      const found = await Promise.all([...blockOf].map(([hash, block]) => readTransaction(hash, block)));
      return found.flat();
    },
  };
}

type Mined = Pick<MinedTransaction, 'hash' | 'blockNumber' | 'blockHash' | 'logs'>;

/** The transfers to a wallet in a mined transaction. USDC logs AuthorizationUsed right before the Transfer that it caused. */
export function incomingIn(mined: Mined, token: string, wallet: string): IncomingTransfer[] {
  const { blockNumber, blockHash } = mined;
  const events = usdcEventsOf(token, mined.logs);
  const incoming = events.flatMap((event, index) => {
    if (event.kind !== 'transfer' || event.to !== wallet) return [];
    const cause = events[index - 1];
    const isAuthorized = cause?.kind === 'authorization used' && cause.from === event.from;
    return [{ event, nonce: isAuthorized ? cause.nonce : null }];
  });
  return incoming.map(({ event, nonce }, ordinal) => ({
    transactionHash: mined.hash.toLowerCase(),
    ordinal,
    blockNumber,
    blockHash,
    from: event.from,
    valueMicro: event.valueMicro,
    nonce,
  }));
}
