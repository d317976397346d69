import type { ChannelOnChain } from '../../../../chain/channels/settlement-contract-client.ts';
import type { ChainContext } from '../../../onchain/chain-context.ts';
import type { listBookedAfter } from './booking-store.ts';

const CHANNELS_AT_ONCE = 3000;

/** Channels, of those that `list` pages through, of which the contract has claimed another sum than the books say; `read` asks it. */
export async function listClaimedOtherwise(
  ctx: ChainContext,
  list: typeof listBookedAfter,
  read: (ids: readonly string[]) => Promise<readonly ChannelOnChain[]>,
): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ; ) {
    const channels = await list(ctx.db, ctx.chain, after, CHANNELS_AT_ONCE);
    const states = await read(channels.map(({ id }) => id));
    for (const [index, { id, claimedMicro }] of channels.entries())
      if (states[index]?.claimedMicro !== claimedMicro) found.push(id);
    const last = channels.at(-1);
    if (last === undefined || channels.length < CHANNELS_AT_ONCE) return found;
    after = last.id;
  }
}
