import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { batchSettlementAbi, depositCollectorAbi } from '@agent-network/chain/batch-settlement-abi';
import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  formatLog,
  getAbiItem,
  type Hex,
  type Log,
  type RpcLog,
  toEventSelector,
  toHex,
} from 'viem';
import { createLogQuery } from '../rpc/log-query.ts';
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

/** Sums of all channels of the node's wallet: claimed, and swept of that. */
export interface ReceiverTotals {
  readonly claimedMicro: bigint;
  readonly sweptMicro: bigint;
}

/**
 * The RPC node answered calls for one block from several states: anvil may answer for its newest block from the next one while it mines
 * that, and the nodes behind one URL may follow different forks. The values do not belong together; read again.
 */
export class SeveralStatesError extends Error {
  constructor() {
    super('the RPC node answered calls for one block by several states of the chain');
  }
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

/** An opened channel, and the transaction of its first deposit. */
export interface ChannelOpening extends OpenedChannel {
  readonly transactionHash: string;
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
  /** Totals of the node's wallet at the end of a block; null: the latest. */
  receiverTotals(blockNumber: bigint | null): Promise<ReceiverTotals>;
  /** Both, with the same claims in them. Throws SeveralStatesError when the answers were of several states of the chain. */
  readReceiver(
    ids: readonly string[],
    blockNumber: bigint,
  ): Promise<{ totals: ReceiverTotals; channels: ChannelOnChain[] }>;
  headBlock(): Promise<bigint>;
  /** Hash of the block at a height in the current chain; null above the head. */
  hashAt(block: bigint): Promise<string | null>;
  /** All events in a range of blocks, in chain order. */
  readLogs(fromBlock: bigint, toBlock: bigint): Promise<ChannelLog[]>;
  /** Channels of all receivers that were opened in a range of blocks. */
  readOpened(fromBlock: bigint, toBlock: bigint): Promise<ChannelOpening[]>;
}

interface ContractOptions {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly token: string;
  /** The node's wallet: receiver of all channels. */
  readonly wallet: string;
}

const CREATED = toEventSelector(getAbiItem({ abi: batchSettlementAbi, name: 'ChannelCreated' }));
/** A log of a block, never a pending one: those have no place. */
const formatMined = (log: RpcLog) => formatLog(log) as Log<bigint, number, false>;
const contract = { address: SETTLEMENT_CONTRACT, abi: batchSettlementAbi } as const;
const channelReads = ['channels', 'refundNonce', 'pendingWithdrawals'] as const;
type ReadName = 'receivers' | (typeof channelReads)[number];
/** Channels read in one call: some RPC providers limit its gas. */
const MAX_READ = 150;
const NO_CHANNEL = `0x${'0'.repeat(64)}` as const;

export function createSettlementContract({ rpcUrl, chainId, token, wallet }: ContractOptions): SettlementContract {
  const transport = { timeout: 10_000, retryCount: 1, batch: { batchSize: 50 } };
  const client = createPublicClient({ transport: rpcTransport(rpcUrl, transport) });
  const logs = createLogQuery(rpcUrl);
  const at = (blockNumber: bigint | null) => (blockNumber === null ? {} : { blockNumber });

  /** Reads in one call, so from one state of the chain. */
  async function readSome(
    ids: readonly string[],
    blockNumber: bigint | null,
  ): Promise<{ totals: ReceiverTotals; channels: ChannelOnChain[] }> {
    const calls: { functionName: ReadName; args: readonly Hex[] }[] = [
      { functionName: 'receivers', args: [wallet as Hex, token as Hex] },
      ...ids.flatMap((id) => channelReads.map((functionName) => ({ functionName, args: [id as Hex] }))),
    ];
    const one = { allowFailure: false, batchSize: 0, multicallAddress: MULTICALL3_ADDRESS } as const;
    const contracts = calls.map((call) => ({ ...contract, ...call }) as const);
    const answers: readonly unknown[] = await client.multicall({ contracts, ...one, ...at(blockNumber) });
    const [receiver, ...words] = answers;
    const [claimedMicro, sweptMicro] = receiver as readonly [bigint, bigint];
    const channels = ids.map((_, index) => channelOf(words.slice(3 * index, 3 * index + 3)));
    return { totals: { claimedMicro, sweptMicro }, channels };
  }

  return {
    whyUnusable: () => findFault(client, chainId),
    async readChannels(ids, blockNumber) {
      const found: ChannelOnChain[] = [];
      for (let start = 0; start < ids.length; start += MAX_READ)
        found.push(...(await readSome(ids.slice(start, start + MAX_READ), blockNumber)).channels);
      return found;
    },
    async receiverTotals(blockNumber) {
      return (await readSome([], blockNumber)).totals;
    },
    async readReceiver(ids, blockNumber) {
      const { totals, channels } = await readSome(ids.slice(0, MAX_READ), blockNumber);
      const found = [...channels];
      for (let start = MAX_READ; start < ids.length; start += MAX_READ) {
        const next = await readSome(ids.slice(start, start + MAX_READ), blockNumber);
        throwUnlessSame(next.totals, totals);
        found.push(...next.channels);
      }
      return { totals, channels: found };
    },
    headBlock: () => client.getBlockNumber({ cacheTime: 0 }),
    async hashAt(block) {
      const found = await client.request({ method: 'eth_getBlockByNumber', params: [toHex(block), false] });
      return found?.hash ?? null;
    },
    async readLogs(fromBlock, toBlock) {
      const found = await logs.read({ address: SETTLEMENT_CONTRACT, topics: [] }, fromBlock, toBlock);
      return found.map(formatMined).flatMap((log) => {
        const event = channelEventOf(log);
        const { transactionHash, blockNumber, blockHash, logIndex } = log;
        return event ? [{ transactionHash, blockNumber, blockHash, logIndex, event }] : [];
      });
    },
    async readOpened(fromBlock, toBlock) {
      const found = await logs.read({ address: SETTLEMENT_CONTRACT, topics: [CREATED] }, fromBlock, toBlock);
      return found.map(formatMined).map((log) => ({ ...openedChannelOf(log), transactionHash: log.transactionHash }));
    },
  };
}

/** From the answers to `channelReads`, in their order. */
function channelOf([channel, refundNonce, pending]: readonly unknown[]): ChannelOnChain {
  const [balanceMicro, claimedMicro] = channel as readonly [bigint, bigint];
  const [amountMicro, initiatedAtS] = pending as readonly [bigint, number];
  const withdrawal = initiatedAtS === 0 ? null : { amountMicro, initiatedAtS };
  return { balanceMicro, claimedMicro, refundNonce: refundNonce as bigint, withdrawal };
}

/** Throws SeveralStatesError when totals of one block differ. */
export function throwUnlessSame(one: ReceiverTotals, other: ReceiverTotals): void {
  if (one.claimedMicro !== other.claimedMicro || one.sweptMicro !== other.sweptMicro) throw new SeveralStatesError();
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
