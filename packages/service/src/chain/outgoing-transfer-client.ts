import { type Hex, pad, type TransactionReceipt, toEventHash } from 'viem';
import { createIncomingTransfers, type IncomingTransfer, type IncomingTransfers } from './incoming-transfer-client.ts';
import { createLogQuery, movesMoney } from './rpc/log-query.ts';
import { usdcEventsOf } from './usdc-events.ts';
import { createWalletBalances, type WalletBalances } from './wallet-balance-client.ts';

/** A USDC transfer out of the node's wallet, from the chain's logs. Addresses and hashes are lower case. */
export type OutgoingTransfer = Omit<IncomingTransfer, 'from'> & { readonly to: string };

export interface OutgoingTransfers {
  /** Reads all transfers in a range of blocks, in chain order. Throws when the chain does not answer, or changed during the read. */
  read(fromBlock: bigint, toBlock: bigint): Promise<OutgoingTransfer[]>;
}

/** Transfers to the wallet and out of it. */
export interface TransferReads {
  readonly incomingTransfers: IncomingTransfers;
  readonly outgoingTransfers: OutgoingTransfers;
}

const TRANSFER = toEventHash('Transfer(address,address,uint256)');

/** Reads of a wallet on chain: the transfers to and from it, and its balance. */
export const createWalletReads = (
  options: Parameters<typeof createOutgoingTransfers>[0],
): TransferReads & { readonly walletBalances: WalletBalances } => ({
  incomingTransfers: createIncomingTransfers(options),
  outgoingTransfers: createOutgoingTransfers(options),
  walletBalances: createWalletBalances(options),
});

/** Reads the transfers out of a wallet from the token's logs. */
function createOutgoingTransfers(options: { rpcUrl: string; token: string; wallet: string }): OutgoingTransfers {
  const { token, wallet } = options;

  const logs = createLogQuery(options.rpcUrl);
  const transfersBehind = logs.receipts((receipt) => outgoingIn(receipt, token, wallet));
  const filter = { address: token, topics: [TRANSFER, pad(wallet as Hex)] };

  return {
    async read(fromBlock, toBlock) {
      return transfersBehind((await logs.read(filter, fromBlock, toBlock)).filter(movesMoney));
    },
  };
}

/** USDC logs AuthorizationUsed right before the Transfer that it caused. */
function outgoingIn(receipt: TransactionReceipt, token: string, wallet: string): OutgoingTransfer[] {
  const { blockNumber, blockHash } = receipt;
  const events = usdcEventsOf(token, receipt.logs);
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
      transactionHash: receipt.transactionHash.toLowerCase(),
      blockNumber,
      blockHash,
    }));
}
