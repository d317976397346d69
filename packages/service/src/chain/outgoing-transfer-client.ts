import { createPublicClient, type Hex, pad, toEventHash, toHex } from 'viem';
import {
  createIncomingTransfers,
  type HasIncomingTransfers,
  type IncomingTransfer,
} from './incoming-transfer-client.ts';
import { logsUpTo } from './rpc/logs-up-to.ts';
import { rpcTransport } from './rpc/rpc-transport.ts';
import { usdcEventsOf } from './usdc-events.ts';
import { createWalletBalances, type HasWalletBalances } from './wallet-balance-client.ts';

/** A USDC transfer out of the node's wallet, from the chain's logs. Addresses and hashes are lower case. */
export type OutgoingTransfer = Omit<IncomingTransfer, 'from'> & { readonly to: string };

export interface OutgoingTransfers {
  /** Reads all transfers in a range of blocks, in chain order. Throws when the chain does not answer, or changed during the read. */
  read(fromBlock: bigint, toBlock: bigint): Promise<OutgoingTransfer[]>;
}

export interface HasOutgoingTransfers {
  readonly outgoingTransfers: OutgoingTransfers;
}

/** Transfers to the wallet and out of it. */
export interface TransferReads extends HasIncomingTransfers, HasOutgoingTransfers {}

const TRANSFER = toEventHash('Transfer(address,address,uint256)');

/** Reads what the chain has of a wallet: the transfers to and from it, and its balance. */
export const createWalletReads = (
  options: Parameters<typeof createOutgoingTransfers>[0],
): TransferReads & HasWalletBalances => ({
  incomingTransfers: createIncomingTransfers(options),
  outgoingTransfers: createOutgoingTransfers(options),
  walletBalances: createWalletBalances(options),
});

/** Reads the transfers out of a wallet from the token's logs. */
function createOutgoingTransfers(options: { rpcUrl: string; token: string; wallet: string }): OutgoingTransfers {
  const { token, wallet } = options;
  const client = createPublicClient({
    transport: rpcTransport(options.rpcUrl, { timeout: 10_000, retryCount: 1, batch: { batchSize: 50 } }),
  });

  /** USDC logs AuthorizationUsed right before the Transfer that it caused. */
  async function readTransaction(hash: Hex, blockHash: Hex): Promise<OutgoingTransfer[]> {
    const receipt = await client.getTransactionReceipt({ hash });
    if (receipt.transactionHash !== hash)
      throw new Error('the RPC node answered with the receipt of another transaction');
    if (receipt.blockHash !== blockHash)
      throw new Error(`transaction ${hash} moved to another block while it was read`);
    const events = usdcEventsOf(token, receipt.logs);
    const { blockNumber } = receipt;
    return events
      .flatMap((event, index) => {
        if (event.kind !== 'transfer' || event.from !== wallet) return [];
        const cause = events[index - 1];
        const isAuthorized = cause?.kind === 'authorization used' && cause.from === wallet;
        return [{ to: event.to, valueMicro: event.valueMicro, nonce: isAuthorized ? cause.nonce : null }];
      })
      .map((transfer, ordinal) => ({
        ...transfer,
        ordinal,
        transactionHash: hash.toLowerCase(),
        blockNumber,
        blockHash,
      }));
  }

  const findLogs = (fromBlock: bigint, toBlock: bigint) =>
    client.request({
      method: 'eth_getLogs',
      params: [
        {
          address: token as Hex,
          topics: [TRANSFER, pad(wallet as Hex)],
          fromBlock: toHex(fromBlock),
          toBlock: toHex(toBlock),
        },
      ],
    });

  return {
    async read(fromBlock, toBlock) {
      const logs = await logsUpTo(client, toBlock, () => findLogs(fromBlock, toBlock));
      const blockOf = new Map(logs.map((log) => [log.transactionHash as Hex, log.blockHash as Hex]));
      const found = await Promise.all([...blockOf].map(([hash, block]) => readTransaction(hash, block)));
      return found.flat();
    },
  };
}
