import { BaseError, type Hex, type RpcLog, RpcRequestError, toHex } from 'viem';
import type { ChainPoint } from '../../chain/blocks/chain-point.ts';
import { createLogClients, findLogs, logsOfBlock } from '../../chain/rpc/log-query.ts';
import { isRefusedSize } from '../../chain/rpc/rpc-errors.ts';
import { decodeRegistryLog, type FoundLog, registryTopics, UPGRADED } from './decode-registry-log.ts';
import type { RegistryIndex } from './registry-tokens.ts';

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

/** The shared registry on the chain: its facts, and the client that reads its logs. */
export interface RegistryAccess extends Pick<RegistryIndex, 'registry'> {
  readonly registryClient: RegistryClient;
}

/** Creates a JSON-RPC client. Requests of the same moment are batched, so that one RPC node usually answers all of them. */
export function createRegistryClient({
  rpcUrl,
  registry: { address, isLocal },
}: Pick<RegistryIndex, 'registry'> & {
  rpcUrl: string;
}): RegistryClient {
  const { many: client, one: clientOfOne } = createLogClients(rpcUrl, 0);
  const filter = { address, topics: [registryTopics] };

  async function blockAt(height: Hex | 'latest' | 'safe', from = client): Promise<ChainBlock | null> {
    const found = await from.request({ method: 'eth_getBlockByNumber', params: [height, false] });
    return found?.hash && found.number !== null
      ? { block: BigInt(found.number), hash: found.hash, parentHash: found.parentHash }
      : null;
  }

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
      const asked = Promise.all([findLogs(from, filter, { fromBlock, toBlock }), blockAt(toHex(toBlock), from)]);
      const [found, endHash] = await asked.then(
        ([logs, end]) => [logs, end?.hash ?? null] as const,
        async (error: unknown) => {
          if (!isRefusedSize(error)) throw error;
          if (fromBlock < toBlock) throw new LogsRefused(toBlock - fromBlock + 1n, { cause: error });
          const { logs, hash } = await logsOfBlock(from, filter, toBlock, error);
          return [logs, hash] as const;
        },
      );
      return { ...read(found, address), endHash };
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

/** Null for an RPC error: some chains do not support the `safe` block tag. */
function nullIfAnswered(error: unknown): null {
  const isAnswer = (cause: unknown) => cause instanceof RpcRequestError;
  if (!(error instanceof BaseError && error.walk(isAnswer))) throw error;
  return null;
}
