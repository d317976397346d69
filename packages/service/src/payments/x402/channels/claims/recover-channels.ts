import type { ChannelConfig } from '../../../../chain/channels/channel-digests.ts';
import type { OpenedChannel } from '../../../../chain/channels/channel-events.ts';
import type { ChannelOnChain } from '../../../../chain/channels/settlement-contract-client.ts';
import type { ChainContext } from '../../../onchain/chain-context.ts';
import { hasChannels, knownChannels } from '../chain/channel-reading-store.ts';
import { followChannels } from '../chain/follow-channels.ts';
import { openChannel } from '../channel-store.ts';
import { bookClaims } from './book-claims.ts';
import { listBookedAfter } from './booking-store.ts';

const MAX_BLOCKS = 2000n;
const CHANNELS_AT_ONCE = 3000;

/**
 * Brings the channels of a database that was restored up to the contract, before a voucher is taken: those that were opened since are known
 * again, balances and claims are read, and what was claimed beyond the books is credited to the payers. It can be repeated.
 */
export async function recoverChannels(ctx: ChainContext, fromBlock: bigint): Promise<void> {
  const { chainId, channels } = ctx.chain;
  if (!channels) return;
  const opened = await readOpened(ctx, fromBlock + 1n, await ctx.settlementContract.headBlock());
  await adopt(ctx, opened, channels.minDepositMicro);
  if (!(await hasChannels(ctx.db, chainId))) return;
  await followChannels(ctx);
  await bookClaims(ctx, await listClaimedOtherwise(ctx));
}

/** Channels to the node's wallet, with its terms, that were opened in these blocks. */
async function readOpened(ctx: ChainContext, from: bigint, to: bigint): Promise<OpenedChannel[]> {
  const { wallet, token, channels } = ctx.chain;
  const isOurs = (config: ChannelConfig) =>
    config.receiver === wallet &&
    config.receiverAuthorizer === wallet &&
    config.token === token &&
    config.withdrawDelayS === channels?.withdrawDelayS;
  const opened: OpenedChannel[] = [];
  let most = MAX_BLOCKS;
  for (let start = from; start <= to; ) {
    const end = start + most - 1n < to ? start + most - 1n : to;
    try {
      opened.push(...(await ctx.settlementContract.readOpened(start, end)).filter(({ config }) => isOurs(config)));
      start = end + 1n;
    } catch (error) {
      // Some RPC nodes limit the size of a log query.
      if (most === 1n) throw error;
      most = most / 4n || 1n;
    }
  }
  return opened;
}

/** Records channels that the books lack. One that holds less than the smallest deposit and was never claimed of is not the node's work. */
async function adopt(ctx: ChainContext, opened: readonly OpenedChannel[], minDepositMicro: bigint): Promise<void> {
  const known = new Set(
    await knownChannels(
      ctx.db,
      opened.map(({ id }) => id),
    ),
  );
  const unknown = opened.filter(({ id }) => !known.has(id));
  if (unknown.length === 0) return;
  const states = await ctx.settlementContract.readChannels(
    unknown.map(({ id }) => id),
    null,
  );
  const isWorth = ({ balanceMicro, claimedMicro }: ChannelOnChain) =>
    balanceMicro >= minDepositMicro || claimedMicro > 0n;
  const adopted = unknown.filter((_, index) => isWorth(states[index] as ChannelOnChain));
  await ctx.db.transaction(async (tx) => {
    for (const channel of adopted) await openChannel(tx, { ...channel, chainId: ctx.chain.chainId }, ctx.clock.now());
  });
  ctx.log.warn({ channels: adopted.length }, 'channels that the database had lost were read from the chain');
}

/** Channels of which the contract has claimed another sum than the books say. */
async function listClaimedOtherwise(ctx: ChainContext): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ; ) {
    const channels = await listBookedAfter(ctx.db, ctx.chain.chainId, after, CHANNELS_AT_ONCE);
    const states = await ctx.settlementContract.readChannels(
      channels.map(({ id }) => id),
      null,
    );
    for (const [index, { id, claimedMicro }] of channels.entries())
      if (states[index]?.claimedMicro !== claimedMicro) found.push(id);
    const last = channels.at(-1);
    if (last === undefined || channels.length < CHANNELS_AT_ONCE) return found;
    after = last.id;
  }
}
