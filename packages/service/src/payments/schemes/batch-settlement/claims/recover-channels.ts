import type { ChannelConfig } from '../../../../chain/channels/channel-digests.ts';
import type { ChannelOnChain, ChannelOpening } from '../../../../chain/channels/settlement-contract-client.ts';
import { readLogRanges } from '../../../../chain/rpc/log-ranges.ts';
import { hasDeposited } from '../../../../chain/used-authorizations.ts';
import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import { channelPoints, hasChannels, knownChannels } from '../chain/channel-reading-store.ts';
import { followChannels } from '../chain/follow-channels.ts';
import { refreshChannels } from '../chain/refresh-channels.ts';
import { openChannel } from '../channel-store.ts';
import { bookClaims, listClaimedOtherwise } from './book-claims.ts';
import { listBookedAfter } from './booking-store.ts';

/**
 * Updates the channels of a restored database to the contract's state, before a voucher is accepted: adopts channels opened since, reads
 * balances and claims, and credits amounts claimed beyond the books to the payers. Returns false if the chain changed during the reads, or
 * another process booked at the same time; then repeat it.
 */
export async function recoverChannels(ctx: ChainContext, fromBlock: bigint): Promise<boolean> {
  const { channels } = ctx.chain;
  const head = await ctx.settlementContract.headBlock();
  if (channels) {
    const adopted = await adopt(ctx, await readOpened(ctx, fromBlock + 1n, head), channels.minDepositMicro);
    if (adopted === null) return false;
    // Their events may be of blocks that are followed up already.
    if (adopted.length > 0 && !(await refreshChannels(ctx, adopted))) return false;
  }
  if (!(await hasChannels(ctx.db, ctx.chain))) return true;
  await followChannels(ctx);
  const [followed] = await channelPoints.list(ctx.db, ctx.chain);
  if (followed === undefined || followed.block < head) return false;
  const claimedOtherwise = () =>
    listClaimedOtherwise(ctx, listBookedAfter, (ids) => ctx.settlementContract.readChannels(ids, null));
  await bookClaims(ctx, await claimedOtherwise());
  return (await claimedOtherwise()).length === 0;
}

/** Channels to the node's wallet, with its terms, that were opened in these blocks. */
async function readOpened(ctx: ChainContext, from: bigint, to: bigint): Promise<ChannelOpening[]> {
  const { wallet, token, channels } = ctx.chain;
  const isOurs = (config: ChannelConfig) =>
    config.receiver === wallet &&
    config.receiverAuthorizer === wallet &&
    config.token === token &&
    config.withdrawDelayS === channels?.withdrawDelayS;
  const opened: ChannelOpening[] = [];
  await readLogRanges(from, to, async (start, end) => {
    opened.push(...(await ctx.settlementContract.readOpened(start, end)).filter(({ config }) => isOurs(config)));
  });
  return opened;
}

/**
 * Records channels that the books lack, and returns all that are known afterwards; null if the chain changed in between. Skips channels
 * below the smallest deposit that were never claimed from, and those that their payer did not pay into.
 */
async function adopt(
  ctx: ChainContext,
  opened: readonly ChannelOpening[],
  minDepositMicro: bigint,
): Promise<readonly string[] | null> {
  if (opened.length === 0) return [];
  const ids = opened.map(({ id }) => id);
  const known = new Set(await knownChannels(ctx.db, ids));
  const states = await ctx.settlementContract.readChannels(ids, null);
  const isWorth = ({ balanceMicro, claimedMicro }: ChannelOnChain) =>
    balanceMicro >= minDepositMicro || claimedMicro > 0n;
  const worthy = opened.filter(({ id }, index) => !known.has(id) && isWorth(states[index] as ChannelOnChain));
  const adopted = await paidByPayer(ctx, worthy);
  if (adopted === null) return null;
  if (adopted.length > 0) {
    await ctx.db.transaction(async (tx) => {
      for (const channel of adopted) await openChannel(tx, { ...channel, chain: ctx.chain }, ctx.clock.now());
    });
    ctx.log.warn({ channels: adopted.length }, 'channels that the database had lost were read from the chain');
  }
  return [...known, ...adopted.map(({ id }) => id)];
}

/**
 * Channels opened by a deposit that their payer signed; null if one is no longer in the chain. The contract takes deposits through any
 * collector, so anyone can open a channel in another's name and sign its vouchers.
 */
async function paidByPayer(
  ctx: ChainContext,
  opened: readonly ChannelOpening[],
): Promise<readonly ChannelOpening[] | null> {
  const paid: ChannelOpening[] = [];
  for (const opening of opened) {
    const mined = await ctx.usdc.findMined([opening.transactionHash]);
    if (mined === null) return null;
    if (hasDeposited(mined.used, opening.config.payer, opening.id)) paid.push(opening);
  }
  return paid;
}
