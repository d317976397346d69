import {
  BaseError,
  createPublicClient,
  type Hex,
  HttpRequestError,
  ResponseBodyTooLargeError,
  type RpcLog,
  RpcRequestError,
  toHex,
} from 'viem';
import type { ChainPoint } from '../../chain/chain-point.ts';
import { rpcTransport } from '../../chain/rpc/rpc-transport.ts';
import { decodeRegistryLog, type FoundLog, registryTopics, UPGRADED } from './decode-registry-log.ts';
import type { HasRegistry } from './registry-info.ts';

/** A block header with its parent's hash. */
export type ChainBlock = ChainPoint & { readonly parentHash: string };

export interface FoundLogs {
  /** In chain order. */
  readonly logs: readonly FoundLog[];
  /** Number of logs that could not be decoded and were skipped. */
  readonly malformed: number;
  /** Number of times the registry's code was replaced. */
  readonly upgrades: number;
  /** Hash of the last block of the range, from the RPC node that answered the logs; null: it does not have that block. */
  readonly endHash: string | null;
}

/** The RPC node refused the query as too large. */
export class LogsRefused extends Error {
  override name = 'LogsRefused';
  readonly blocks: bigint;

  constructor(blocks: bigint, options?: ErrorOptions) {
    super(`the chain refuses to return the logs of ${blocks} blocks at once`, options);
    this.blocks = blocks;
  }
}

/** Chain reads of the index. Throws viem's errors when the chain does not answer. */
export interface RegistryClient {
  chainId(): Promise<number>;
  /** The newest block, and the number of the newest one that is safe from reorgs; null when the chain does not report it. */
  head(): Promise<{ head: ChainBlock; safeBlock: bigint | null }>;
  /** The blocks at these heights in the current chain; null where there is none. */
  blocksAt(heights: readonly bigint[]): Promise<(ChainBlock | null)[]>;
  /** The registry's logs in a range of blocks. Throws LogsRefused. */
  logsIn(fromBlock: bigint, toBlock: bigint): Promise<FoundLogs>;
}

export interface HasRegistryClient {
  readonly registryClient: RegistryClient;
}

/** The shared registry on the chain: its facts, and the client that reads its logs. */
export interface RegistryAccess extends HasRegistry, HasRegistryClient {}

const MANY = { maxResponseBodySize: 16 * 2 ** 20, timeout: 10_000 };
/**
 * For a single block, of which no less can be asked: who pays for its gas fills it with logs (8 gas a byte, some 400 for 32 bytes with the
 * rest), and a block that can't be read would stop the index for good.
 */
const ONE = { maxResponseBodySize: 256 * 2 ** 20, timeout: 20_000 };

/** Creates a JSON-RPC client. Requests of the same moment are batched, so that one RPC node usually answers all of them. */
export function createRegistryClient({
  rpcUrl,
  registry: { address, isLocal },
}: {
  rpcUrl: string;
} & HasRegistry): RegistryClient {
  const clientOf = (limits: typeof MANY) =>
    createPublicClient({ transport: rpcTransport(rpcUrl, { ...limits, retryCount: 0, batch: { batchSize: 50 } }) });
  const [client, clientOfOne] = [clientOf(MANY), clientOf(ONE)];

  async function blockAt(height: Hex | 'latest' | 'safe', from = client): Promise<ChainBlock | null> {
    const found = await from.request({ method: 'eth_getBlockByNumber', params: [height, false] });
    return found?.hash && found.number !== null
      ? { block: BigInt(found.number), hash: found.hash, parentHash: found.parentHash }
      : null;
  }

  const findLogs = (from: typeof client, fromBlock: bigint, toBlock: bigint) =>
    from.request({
      method: 'eth_getLogs',
      params: [
        {
          address: address as Hex,
          topics: [[...registryTopics]],
          fromBlock: toHex(fromBlock),
          toBlock: toHex(toBlock),
        },
      ],
    });

  return {
    chainId: () => client.getChainId(),
    async head() {
      const [head, safe] = await Promise.all([
        blockAt('latest'),
        isLocal ? null : blockAt('safe').catch(nullIfAnswered),
      ]);
      if (head === null) throw new Error('the chain has no newest block');
      return { head, safeBlock: isLocal ? head.block : (safe?.block ?? null) };
    },
    blocksAt: (heights) => Promise.all(heights.map((height) => blockAt(toHex(height)))),
    async logsIn(fromBlock, toBlock) {
      const from = fromBlock === toBlock ? clientOfOne : client;
      const asked = Promise.all([findLogs(from, fromBlock, toBlock), blockAt(toHex(toBlock), from)]);
      const [found, end] = await asked.catch((error: unknown) => {
        throw isRefusal(error) ? new LogsRefused(toBlock - fromBlock + 1n, { cause: error }) : error;
      });
      return { ...read(found, address), endHash: end?.hash ?? null };
    },
  };
}

function read(found: readonly RpcLog[], registry: string): Omit<FoundLogs, 'endHash'> {
  const own = found.filter(({ address }) => address.toLowerCase() === registry);
  const upgrades = own.filter(({ topics }) => topics[0] === UPGRADED).length;
  const logs = own.map(decodeRegistryLog).filter((log) => log !== null);
  logs.sort((a, b) => Number(a.block - b.block) || a.index - b.index);
  return { logs, malformed: found.length - logs.length - upgrades, upgrades };
}

const causeOf = (error: unknown, isIt: (cause: unknown) => boolean): unknown =>
  error instanceof BaseError ? error.walk(isIt) : null;

/** True for an RPC error or an oversized answer: a smaller range may succeed. */
function isRefusal(error: unknown): boolean {
  const tooLong = causeOf(error, (cause) => cause instanceof ResponseBodyTooLargeError);
  const http = causeOf(error, (cause) => cause instanceof HttpRequestError) as HttpRequestError | null;
  return tooLong !== null || http?.status === 413 || causeOf(error, isAnswer) !== null;
}

const isAnswer = (cause: unknown) => cause instanceof RpcRequestError;

/** Null for an RPC error: some chains do not support the `safe` block tag. */
function nullIfAnswered(error: unknown): null {
  if (causeOf(error, isAnswer) === null) throw error;
  return null;
}
