import type { ChainContext } from '../../../onchain/chain-context.ts';
import type { listBookedAfter } from './booking-store.ts';

const CHANNELS_AT_ONCE = 3000;

/** Channels, of those that `list` pages through, of which the contract has claimed another sum than the books say; null: by the latest block. */
export async function listClaimedOtherwise(
  ctx: ChainContext,
  list: typeof listBookedAfter,
  blockNumber: bigint | null,
): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ; ) {
    const channels = await list(ctx.db, ctx.chain.chainId, after, CHANNELS_AT_ONCE);
    const states = await ctx.settlementContract.readChannels(
      channels.map(({ id }) => id),
      blockNumber,
    );
    for (const [index, { id, claimedMicro }] of channels.entries())
      if (states[index]?.claimedMicro !== claimedMicro) found.push(id);
    const last = channels.at(-1);
    if (last === undefined || channels.length < CHANNELS_AT_ONCE) return found;
    after = last.id;
  }
}
