import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { batchSettlementAbi, depositCollectorAbi } from '@agent-network/chain/batch-settlement-abi';
import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  getAbiItem,
  type Hex,
  toHex,
} from 'viem';
import { logsUpTo } from '../rpc/logs-up-to.ts';
import { rpcTransport } from '../rpc/rpc-transport.ts';
import { DEPOSIT_COLLECTOR, SETTLEMENT_CONTRACT } from './channel-calls.ts';
import { channelDigestsOf } from './channel-digests.ts';
import { type ChannelEvent, channelEventOf, type OpenedChannel, openedChannelOf } from './channel-events.ts';

/** A channel according to the chain. */
export interface ChannelOnChain {
  /** Deposits less refunds and withdrawals; claims do not lower it. */
  readonly balanceMicro: bigint;
  readonly claimedMicro: bigint;
  readonly refundNonce: bigint;
  /** A withdrawal that the payer began; null: none. */
  readonly withdrawal: { readonly amountMicro: bigint; readonly initiatedAtS: number } | null;
}

/** A log of the settlement contract in its place on the chain. */
export interface ChannelLog {
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Position in the block. */
  readonly logIndex: number;
  readonly event: ChannelEvent;
}

/** The node's view of the contract of payment channels. Throws viem's errors when the chain does not answer. */
export interface SettlementContract {
  /**
   * Null if channels work on this chain: both contracts have code, the settlement contract signs in the expected domain, and the collector
   * serves it. Otherwise the reason in words.
   */
  whyUnusable(): Promise<string | null>;
  /** State of channels at the end of a block (null: the latest), in the order of the ids. A channel without deposits has zeros. */
  readChannels(ids: readonly string[], blockNumber: bigint | null): Promise<ChannelOnChain[]>;
  /** Claimed for the node's wallet in all channels, and what was swept of it, at the end of a block. */
  receiverTotals(blockNumber: bigint | null): Promise<{ claimedMicro: bigint; sweptMicro: bigint }>;
  headBlock(): Promise<bigint>;
  /** Hash of the block at a height in the current chain; null above the head. */
  hashAt(block: bigint): Promise<string | null>;
  /** All events in a range of blocks, in chain order. */
  readLogs(fromBlock: bigint, toBlock: bigint): Promise<ChannelLog[]>;
  /** Channels of all receivers that were opened in a range of blocks. */
  readOpened(fromBlock: bigint, toBlock: bigint): Promise<OpenedChannel[]>;
}

export interface HasSettlementContract {
  readonly settlementContract: SettlementContract;
}

interface ContractOptions {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly token: string;
  /** The node's wallet: receiver of all channels. */
  readonly wallet: string;
}

const channelCreated = getAbiItem({ abi: batchSettlementAbi, name: 'ChannelCreated' });
const contract = { address: SETTLEMENT_CONTRACT, abi: batchSettlementAbi } as const;
/** Channels read in one call: some RPC providers limit its gas. */
const MAX_READ = 150;
const NO_CHANNEL = `0x${'0'.repeat(64)}` as const;

export function createSettlementContract({ rpcUrl, chainId, token, wallet }: ContractOptions): SettlementContract {
  const transport = { timeout: 10_000, retryCount: 1, batch: { batchSize: 50 } };
  const client = createPublicClient({ transport: rpcTransport(rpcUrl, transport) });
  const at = (blockNumber: bigint | null) => (blockNumber === null ? {} : { blockNumber });

  async function readSome(ids: readonly string[], blockNumber: bigint | null): Promise<ChannelOnChain[]> {
    const contracts = ids.flatMap((id) =>
      (['channels', 'refundNonce', 'pendingWithdrawals'] as const).map((functionName) => ({
        ...contract,
        functionName,
        args: [id as Hex] as const,
      })),
    );
    const one = { allowFailure: false, batchSize: 0, multicallAddress: MULTICALL3_ADDRESS } as const;
    const words = await client.multicall({ contracts, ...one, ...at(blockNumber) });
    return ids.map((_, index) => {
      const [balanceMicro, claimedMicro] = words[3 * index] as readonly [bigint, bigint];
      const refundNonce = words[3 * index + 1] as bigint;
      const [amountMicro, initiatedAtS] = words[3 * index + 2] as readonly [bigint, number];
      const withdrawal = initiatedAtS === 0 ? null : { amountMicro, initiatedAtS };
      return { balanceMicro, claimedMicro, refundNonce, withdrawal };
    });
  }

  return {
    whyUnusable: () => findFault(client, chainId),
    async readChannels(ids, blockNumber) {
      const found: ChannelOnChain[] = [];
      for (let start = 0; start < ids.length; start += MAX_READ)
        found.push(...(await readSome(ids.slice(start, start + MAX_READ), blockNumber)));
      return found;
    },
    async receiverTotals(blockNumber) {
      const args = [wallet as Hex, token as Hex] as const;
      const read = { ...contract, functionName: 'receivers', args, ...at(blockNumber) } as const;
      const [claimedMicro, sweptMicro] = await client.readContract(read);
      return { claimedMicro, sweptMicro };
    },
    headBlock: () => client.getBlockNumber({ cacheTime: 0 }),
    async hashAt(block) {
      const found = await client.request({ method: 'eth_getBlockByNumber', params: [toHex(block), false] });
      return found?.hash ?? null;
    },
    async readLogs(fromBlock, toBlock) {
      const range = { address: SETTLEMENT_CONTRACT, fromBlock, toBlock };
      const logs = await logsUpTo(client, toBlock, () => client.getLogs(range));
      return logs.flatMap((log) => {
        const event = channelEventOf(log);
        const { transactionHash, blockNumber, blockHash, logIndex } = log;
        return event ? [{ transactionHash, blockNumber, blockHash, logIndex, event }] : [];
      });
    },
    async readOpened(fromBlock, toBlock) {
      const range = { address: SETTLEMENT_CONTRACT, event: channelCreated, fromBlock, toBlock };
      const logs = await logsUpTo(client, toBlock, () => client.getLogs(range));
      return logs.map(openedChannelOf);
    },
  };
}

async function findFault(client: ReturnType<typeof createPublicClient>, chainId: number): Promise<string | null> {
  const addresses = [SETTLEMENT_CONTRACT, DEPOSIT_COLLECTOR];
  const codes = await Promise.all(addresses.map((address) => client.getCode({ address })));
  const missing = addresses.filter((_, index) => (codes[index] ?? '0x') === '0x');
  if (missing.length > 0) return `the chain has no contract at ${missing.join(' and ')}`;
  const collector = { address: DEPOSIT_COLLECTOR, abi: depositCollectorAbi } as const;
  const [digest, served] = await Promise.all([
    unlessReverted(client.readContract({ ...contract, functionName: 'getVoucherDigest', args: [NO_CHANNEL, 1n] })),
    unlessReverted(client.readContract({ ...collector, functionName: 'x402BatchSettlement' })),
  ]);
  if (digest !== channelDigestsOf(chainId).voucherDigest(NO_CHANNEL, 1n))
    return `the contract at ${SETTLEMENT_CONTRACT} signs in another domain than that of x402BatchSettlement`;
  if (served?.toLowerCase() !== SETTLEMENT_CONTRACT)
    return `the contract at ${DEPOSIT_COLLECTOR} does not collect for ${SETTLEMENT_CONTRACT}`;
  return null;
}

/** Answer of a contract; null when it has no such function, or reverts. */
async function unlessReverted<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    const isRevert = (cause: unknown) =>
      cause instanceof ContractFunctionRevertedError || cause instanceof ContractFunctionZeroDataError;
    if (error instanceof BaseError && error.walk(isRevert)) return null;
    throw error;
  }
}
