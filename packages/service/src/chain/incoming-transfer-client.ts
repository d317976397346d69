import { createPublicClient, type Hex, pad, toEventHash, toHex } from 'viem';
import { SETTLEMENT_CONTRACT } from './channels/channel-calls.ts';
import { channelEventOf } from './channels/channel-events.ts';
import { createLogQuery, movesMoney } from './rpc/log-query.ts';
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
  /**
   * Reads all transfers in a range of blocks, in chain order. Throws when the chain does not answer, or changed during the read. Sweeps of
   * claimed vouchers are left out: they are booked from the contract's totals.
   */
  read(fromBlock: bigint, toBlock: bigint): Promise<IncomingTransfer[]>;
}

const TRANSFER = toEventHash('Transfer(address,address,uint256)');

/** Reads the transfers to a wallet from the token's logs. */
export function createIncomingTransfers(options: { rpcUrl: string; token: string; wallet: string }): IncomingTransfers {
  const { token, wallet } = options;
  const client = createPublicClient({
    transport: rpcTransport(options.rpcUrl, { timeout: 10_000, retryCount: 1, batch: { batchSize: 50 } }),
  });

  const logs = createLogQuery(options.rpcUrl);
  const transfersBehind = logs.receipts((receipt) =>
    incomingIn({ ...receipt, hash: receipt.transactionHash }, token, wallet),
  );
  const filter = { address: token, topics: [TRANSFER, null, pad(wallet as Hex)] };

  return {
    headBlock: () => client.getBlockNumber({ cacheTime: 0 }),
    async hashAt(block) {
      const found = await client.request({ method: 'eth_getBlockByNumber', params: [toHex(block), false] });
      return found?.hash ?? null;
    },
    async read(fromBlock, toBlock) {
      return transfersBehind((await logs.read(filter, fromBlock, toBlock)).filter(movesMoney));
    },
  };
}

type Mined = Pick<MinedTransaction, 'hash' | 'blockNumber' | 'blockHash' | 'logs'>;

/**
 * The transfers to a wallet in a mined transaction, without sweeps of claimed vouchers. USDC logs AuthorizationUsed right before the
 * Transfer that it caused. Other money from the settlement contract, such as a withdrawal of a stranger's channel to the wallet, counts as
 * an ordinary transfer.
 */
export function incomingIn(mined: Mined, token: string, wallet: string): IncomingTransfer[] {
  const { blockNumber, blockHash } = mined;
  const events = usdcEventsOf(token, mined.logs);
  const incoming = events.flatMap((event, index) => {
    if (event.kind !== 'transfer' || event.to !== wallet) return [];
    const cause = events[index - 1];
    const isAuthorized = cause?.kind === 'authorization used' && cause.from === event.from;
    return [{ event, nonce: isAuthorized ? cause.nonce : null }];
  });
  const isSweep = sweepsIn(mined.logs, token, wallet);
  return incoming.flatMap(({ event, nonce }, ordinal) => {
    const { from, valueMicro } = event;
    if (from === SETTLEMENT_CONTRACT && isSweep(valueMicro)) return [];
    return [{ transactionHash: mined.hash.toLowerCase(), ordinal, blockNumber, blockHash, from, valueMicro, nonce }];
  });
}

/** Returns a function that is true for each amount that the settlement contract swept into the wallet, once per sweep. */
function sweepsIn(logs: Mined['logs'], token: string, wallet: string): (valueMicro: bigint) => boolean {
  const open = logs.flatMap((log) => {
    const event = channelEventOf(log);
    return event?.kind === 'swept' && event.receiver === wallet && event.token === token ? [event.amountMicro] : [];
  });
  return (valueMicro) => {
    const place = open.indexOf(valueMicro);
    if (place >= 0) open.splice(place, 1);
    return place >= 0;
  };
}
