import {
  BaseError,
  createPublicClient,
  type Hex,
  HttpRequestError,
  http,
  ResponseBodyTooLargeError,
  type RpcLog,
  RpcRequestError,
  toHex,
} from 'viem';
import type { ChainPoint } from '../../chain/chain-point.ts';
import { decodeRegistryLog, type FoundLog, registryTopics, UPGRADED } from './decode-registry-log.ts';
import type { HasRegistry } from './registry-info.ts';

/** A block as its header says, with the hash of the one before. */
export type ChainBlock = ChainPoint & { readonly parentHash: string };

export interface FoundLogs {
  /** In the order of the chain. */
  readonly logs: readonly FoundLog[];
  /** Logs that nobody can read: skipped. */
  readonly malformed: number;
  /** How often the code of the registry was replaced. */
  readonly upgrades: number;
  /** The hash of the last block of the range, by whoever told the logs; null: it does not have that block. */
  readonly endHash: string | null;
}

/** The chain answered that it does not answer questions about so much. */
export class LogsRefused extends Error {
  override name = 'LogsRefused';
  readonly blocks: bigint;

  constructor(blocks: bigint, options?: ErrorOptions) {
    super(`the chain does not tell the logs of ${blocks} blocks at once`, options);
    this.blocks = blocks;
  }
}

/** What the index asks of the chain. Throws viem's errors when the chain does not answer. */
export interface RegistryClient {
  /** The newest block, and the number of the newest that is safe from reorgs; null when the chain does not tell. */
  head(): Promise<{ head: ChainBlock; safeBlock: bigint | null }>;
  /** The blocks that stand at these heights now; null where there is none. */
  blocksAt(heights: readonly bigint[]): Promise<(ChainBlock | null)[]>;
  /** The registry's logs in a range of blocks. Throws LogsRefused. */
  logsIn(fromBlock: bigint, toBlock: bigint): Promise<FoundLogs>;
}

export interface HasRegistryClient {
  readonly registryClient: RegistryClient;
}

const MAX_BYTES = 16 * 2 ** 20;
const TIMEOUT_MS = 10_000;

/** Asks over JSON-RPC; questions of the same moment share a request, and so mostly are answered by the same machine. */
export function createRegistryClient({
  rpcUrl,
  registry: { address, isLocal },
}: {
  rpcUrl: string;
} & HasRegistry): RegistryClient {
  const client = createPublicClient({
    transport: http(rpcUrl, {
      timeout: TIMEOUT_MS,
      retryCount: 0,
      maxResponseBodySize: MAX_BYTES,
      batch: { batchSize: 50 },
    }),
  });

  async function blockAt(height: Hex | 'latest' | 'safe'): Promise<ChainBlock | null> {
    const found = await client.request({ method: 'eth_getBlockByNumber', params: [height, false] });
    return found?.hash && found.number !== null
      ? { block: BigInt(found.number), hash: found.hash, parentHash: found.parentHash }
      : null;
  }

  const findLogs = (fromBlock: bigint, toBlock: bigint) =>
    client.request({
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
      const asked = Promise.all([findLogs(fromBlock, toBlock), blockAt(toHex(toBlock))]);
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

/** An error that the chain answered with, or an answer that is too long: about less it may tell. */
function isRefusal(error: unknown): boolean {
  const tooLong = causeOf(error, (cause) => cause instanceof ResponseBodyTooLargeError);
  const http = causeOf(error, (cause) => cause instanceof HttpRequestError) as HttpRequestError | null;
  return tooLong !== null || http?.status === 413 || causeOf(error, isAnswer) !== null;
}

const isAnswer = (cause: unknown) => cause instanceof RpcRequestError;

/** Some chains do not know what `safe` means. */
function nullIfAnswered(error: unknown): null {
  if (causeOf(error, isAnswer) === null) throw error;
  return null;
}
