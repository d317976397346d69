import { deepestOf, depthFor, isDeepEnough } from '../../../../chain/blocks/confirmation-depth.ts';
import type { ChannelLog, ChannelOnChain } from '../../../../chain/channels/settlement-contract-client.ts';
import { failpoint } from '../../../../lib/process/failpoint.ts';
import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import { type ChannelReading, writeReadings } from './channel-reading-store.ts';

/** Channels as of the end of a block. */
export interface ReadAt {
  readonly block: { readonly number: bigint; readonly hash: string };
  readonly readings: readonly ChannelReading[];
}

/**
 * Updates channels to the contract's state at the newest block. Sums are read, not added up from events: reading twice changes nothing, and
 * the next reading corrects a reorg. Returns false if the chain changed during the read; try again.
 */
export async function refreshChannels(ctx: ChainContext, ids: readonly string[]): Promise<boolean> {
  const read = await readAtHead(ctx, ids);
  if (read === null) return false;
  await ctx.db.transaction(async (tx) => {
    await writeReadings(tx, read.block.number, read.readings, ctx.clock.now());
    failpoint('before-channel-read-commit');
  });
  failpoint('after-channel-read-commit');
  return true;
}

/** Reads channels at the newest block, without writing. Null if a reorg replaced it in between. */
export async function readAtHead(ctx: ChainContext, ids: readonly string[]): Promise<ReadAt | null> {
  const { settlementContract: contract } = ctx;
  const number = await contract.headBlock();
  const hash = await contract.hashAt(number);
  if (hash === null) return null;
  const states = await contract.readChannels(ids, number);
  const shallow = ids.length === 0 ? [] : await shallowDeposits(ctx, number, new Set(ids));
  if ((await contract.hashAt(number)) !== hash) return null;
  const readings = ids.map((id, index) => {
    const own = shallow.filter(({ event }) => event.channelId === id);
    return readingOf(ctx, id, states[index] as ChannelOnChain, own);
  });
  return { block: { number, hash }, readings };
}

type DepositLog = ChannelLog & { readonly event: { readonly channelId: string; readonly amountMicro: bigint } };

/** Deposits that are in the sums already, but not as deep as their amounts ask for. */
async function shallowDeposits(ctx: ChainContext, head: bigint, ids: ReadonlySet<string>): Promise<DepositLog[]> {
  const deepest = deepestOf(ctx.confirmations);
  if (deepest <= 1n) return [];
  const logs = await ctx.settlementContract.readLogs(head < deepest ? 0n : head - deepest + 1n, head);
  return logs.flatMap(({ event, ...log }) => {
    if (event.kind !== 'deposited' || !ids.has(event.channelId)) return [];
    const isDeep = isDeepEnough(depthFor(ctx.confirmations, event.amountMicro), log.blockNumber, head);
    return isDeep ? [] : [{ ...log, event }];
  });
}

function readingOf(
  ctx: ChainContext,
  id: string,
  { balanceMicro, refundNonce, withdrawal }: ChannelOnChain,
  shallow: readonly DepositLog[],
): ChannelReading {
  const shallowMicro = shallow.reduce((sum, { event }) => sum + event.amountMicro, 0n);
  const deepAt = shallow.map(
    ({ blockNumber, event }) => blockNumber + depthFor(ctx.confirmations, event.amountMicro) - 1n,
  );
  return {
    id,
    // A refund may have taken of a deposit that is not deep yet.
    balanceMicro: balanceMicro > shallowMicro ? balanceMicro - shallowMicro : 0n,
    refundNonce,
    withdrawRequestedAt: withdrawal && new Date(withdrawal.initiatedAtS * 1000),
    dueBlock: deepAt.length === 0 ? null : deepAt.reduce((least, each) => (each < least ? each : least)),
  };
}
