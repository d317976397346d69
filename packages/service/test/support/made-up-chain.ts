import { createHash } from 'node:crypto';
import { LOCAL_CHAIN_ID } from '@agent-network/chain/addresses';
import type { FoundLog } from '../../src/registry/read/decode-registry-log.ts';
import { LogsRefused, type RegistryClient } from '../../src/registry/read/registry-log-client.ts';
import type { RegistryLog } from '../../src/registry/read/registry-logs.ts';

/** Effect of a transaction on the registry. */
export type Said = Pick<RegistryLog, 'tokenId' | 'kind' | 'value'> & { readonly bytes?: string };

interface MadeBlock {
  readonly block: bigint;
  readonly hash: string;
  readonly parentHash: string;
  readonly logs: readonly FoundLog[];
}

/** A chain in memory, with any logs that one likes. */
export interface MadeUpChain {
  readonly client: RegistryClient;
  mine(said: readonly Said[]): void;
  /** Takes the newest blocks back; the first always stays. */
  rollBack(blocks: number): void;
  /** The machine that answers next is so many blocks behind: it says so, or, with `isSecret`, only lacks what the newest have. */
  lag(blocks: number, isSecret: boolean): void;
  /** Questions about more blocks than these are refused. */
  limit(blocks: number): void;
}

export function makeUpChain(): MadeUpChain {
  const chain: MadeBlock[] = [];
  let made = 0;
  let behind = { blocks: 0, isSecret: false };
  let limit = Number.POSITIVE_INFINITY;
  const known = () => chain.slice(0, Math.max(1, chain.length - behind.blocks));

  function mine(said: readonly Said[]): void {
    made += 1;
    const block = BigInt(chain.length);
    const hash = `0x${createHash('sha256').update(`${made}`).digest('hex')}`;
    const logs = said.map((each, index) => ({
      bytes: null,
      fault: null,
      ...each,
      block,
      index,
      blockHash: hash,
      transactionHash: `0x${made}-${index}`,
    }));
    chain.push({ block, hash, parentHash: chain.at(-1)?.hash ?? '0x0', logs });
  }
  mine([]);

  return {
    mine,
    rollBack(blocks) {
      if (blocks > 0) chain.splice(Math.max(1, chain.length - blocks));
    },
    lag(blocks, isSecret) {
      behind = { blocks, isSecret };
    },
    limit(blocks) {
      limit = blocks;
    },
    client: {
      chainId: async () => LOCAL_CHAIN_ID,
      async head() {
        const head = (behind.isSecret ? chain : known()).at(-1) as MadeBlock;
        return { head, safeBlock: head.block };
      },
      blocksAt: async (heights) => heights.map((height) => (behind.isSecret ? chain : known())[Number(height)] ?? null),
      async logsIn(from, to) {
        if (Number(to - from) >= limit) throw new LogsRefused(to - from + 1n);
        const blocks = known();
        const logs = blocks.slice(Number(from), Number(to) + 1).flatMap((block) => block.logs);
        return { logs, malformed: 0, upgrades: 0, endHash: blocks[Number(to)]?.hash ?? null };
      },
    },
  };
}
