import { whyStalled } from '../../chain/blocks/gates.ts';
import type { Store } from '../../store/database.ts';
import { isStalled } from './reading-state.ts';
import type { RegistryInfo } from './registry-info.ts';
import { type FirstNaming, findFirstNaming } from './registry-log-store.ts';
import type { RegistryToken } from './registry-logs.ts';
import { findReading, type Reading } from './registry-reading-store.ts';
import type { TokenClient } from './registry-token-client.ts';
import { findTokens, listChanges, type TokenChange } from './registry-token-store.ts';

export type { FirstNaming, TokenChange };

export interface KnownToken {
  readonly token: RegistryToken;
  readonly isSafe: boolean;
  readonly waits: string | null;
}

/** The entries of the shared registry, from this node's index. */
export interface RegistryTokens {
  /**
   * A token as of the newest indexed block; null when it does not exist. Act on its owner only when `isSafe`: blocks that a reorg may still
   * remove changed nothing about it, all blocks before those are indexed, and the reader is not stalled. `waits` is the reason that it is
   * not safe yet; null when it is.
   */
  at(tokenId: bigint): Promise<KnownToken | null>;
  /** Tokens that changed after this number, each once, in the order of their last change, burnt ones included. Start at 0n. */
  changedAfter(number: bigint, limit: number): Promise<TokenChange[]>;
  /** The first log on this chain that named an agent of a node, by any token at any address; null: none is indexed. */
  firstNaming(agentId: string): Promise<FirstNaming | null>;
}

/** The shared registry as this node has indexed it. */
export interface RegistryIndex {
  readonly registry: RegistryInfo;
  readonly registryTokens: RegistryTokens;
  readonly tokenClient: TokenClient;
}

export function createRegistryTokens(ctx: Store & Pick<RegistryIndex, 'registry'>): RegistryTokens {
  const { chainId } = ctx.registry;
  return {
    async at(tokenId) {
      // Order matters: later reads must not see older chain state.
      const reading = await findReading(ctx.db, chainId);
      const token = (await findTokens(ctx.db, chainId, [tokenId])).get(tokenId);
      if (!token) return null;
      const sinceGoodMs = reading ? ctx.clock.now().getTime() - reading.goodAt.getTime() : 0;
      const isRead = reading?.block != null && reading.block >= reading.safeBlock;
      const isSafe = isRead && !isStalled(sinceGoodMs) && token.changedBlock <= reading.safeBlock;
      return { token, isSafe, waits: isSafe ? null : await waitsFor(ctx, token, reading) };
    },
    changedAfter: (number, limit) => listChanges(ctx.db, chainId, number, limit),
    firstNaming: (agentId) => findFirstNaming(ctx.db, chainId, `/agents/${agentId}/registration.json`),
  };
}

async function waitsFor(
  ctx: Store & Pick<RegistryIndex, 'registry'>,
  token: RegistryToken,
  reading: Reading | null,
): Promise<string> {
  const stalled = await whyStalled(ctx, ctx.registry);
  const safe = `it changed in block ${token.changedBlock}, and blocks up to ${reading?.safeBlock ?? 0n} are safe from reorgs`;
  return stalled === null ? safe : `${safe}; ${stalled}`;
}
