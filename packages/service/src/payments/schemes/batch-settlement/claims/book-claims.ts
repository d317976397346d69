import { SETTLEMENT_CONTRACT } from '../../../../chain/channels/channel-calls.ts';
import {
  type ChannelOnChain,
  type ReceiverTotals,
  SeveralStatesError,
  throwUnlessSame,
} from '../../../../chain/channels/settlement-contract-client.ts';
import { failpoint } from '../../../../lib/process/failpoint.ts';
import type { Tx } from '../../../../store/sql.ts';
import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import { openSuspense } from '../../../deposits/suspense.ts';
import { postTransfers } from '../../../ledger/ledger-store.ts';
import { WATCHED_BLOCKS } from '../../../reconcile/watch-reorgs.ts';
import { hasChannels } from '../chain/channel-reading-store.ts';
import { releaseEarnings } from '../release-earnings.ts';
import {
  type BookedReceiver,
  beginReceiver,
  findReceiver,
  listBookedAfter,
  listLossy,
  listOwingAfter,
  lockBooked,
  lockReceiver,
  sumClaimed,
  writeBooked,
  writeReceiver,
} from './booking-store.ts';
import { bookingOfChannel, bookingOfReceiver } from './claim-books.ts';
import { listUnsettled } from './claim-store.ts';
import { creditLostCharges } from './credit-lost-charges.ts';

/** Number of blocks without bookings after which the block is recorded. */
const NOTED_BLOCKS = 50n;
/** Number of reads in one run: a block that comes in between invalidates one of them. */
const TRIES = 3;

interface Reading {
  readonly before: BookedReceiver;
  readonly block: { readonly number: bigint; readonly hash: string };
  readonly channels: ReadonlyMap<string, ChannelOnChain>;
  readonly lossy: readonly string[];
  readonly totals: ReceiverTotals;
}

/**
 * Updates the books of claims, sweeps and losses to the contract's state at the head. Amounts are compared, not logs: a claim is booked
 * once, no matter who sent it or how often it is read, and a claim removed by a reorg is booked back. If another process books at the same
 * time, this run does nothing. It reads channels with open claims and those in `also`; if the wallet's total differs from their sum, it
 * reads all that may explain it, as anyone can submit the calldata of a failed claim. Claims for a former wallet are not booked: its
 * channels keep their debt, and its money arrives as a transfer.
 */
export async function bookClaims(ctx: ChainContext, also: readonly string[] = []): Promise<void> {
  if (!(await hasChannels(ctx.db, ctx.chain))) return;
  const reading = await readSteady(ctx, also);
  if (reading === null) return;
  const { claimed, lost } = await ctx.db.transaction(async (tx) => {
    const booked = await book(ctx, tx, reading);
    failpoint('before-channel-book-commit');
    return booked;
  });
  failpoint('after-channel-book-commit');
  if (claimed > 0n) ctx.metrics.channelClaimed.inc(Number(claimed));
  if (lost > 0n) {
    ctx.metrics.channelLoss.inc(Number(lost));
    ctx.log.error({ lostMicro: String(lost) }, 'vouchers can not be claimed any more: booked as a loss');
  }
  await creditLostCharges(ctx);
  await releaseEarnings(ctx);
}

/** Starts the books of the wallet as a receiver, before the first claim is sent. Earlier sweeps belong to the operator. */
export async function beginBooks(ctx: ChainContext): Promise<BookedReceiver | null> {
  const found = await findReceiver(ctx.db, ctx.chain);
  if (found) return found;
  const number = await ctx.settlementContract.headBlock();
  const { sweptMicro } = await ctx.settlementContract.receiverTotals(number);
  const hash = await ctx.settlementContract.hashAt(number);
  if (hash === null) return null;
  await beginReceiver(ctx.db, ctx.chain, { settledMicro: sweptMicro, blockNumber: number, blockHash: hash });
  return findReceiver(ctx.db, ctx.chain);
}

/** Null when the chain changed during each of the reads, or this RPC node is behind the one that was read last. */
async function readSteady(ctx: ChainContext, also: readonly string[]): Promise<Reading | null> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const reading = await read(ctx, also).catch((error: unknown) => {
      if (error instanceof SeveralStatesError) return null;
      throw error;
    });
    if (reading) return reading;
  }
  return null;
}

/** Null when a reorg came in between, or this RPC node is behind. Throws SeveralStatesError when the answers do not belong together. */
async function read(ctx: ChainContext, also: readonly string[]): Promise<Reading | null> {
  const { settlementContract: contract, db, chain } = ctx;
  const before = await beginBooks(ctx);
  if (before === null) return null;
  const number = await contract.headBlock();
  if (number < before.blockNumber) return null;
  const hash = await contract.hashAt(number);
  const expected = [...new Set([...(await listUnsettled(db, chain, number - WATCHED_BLOCKS)), ...also])];
  const { totals, channels } = await contract.readReceiver(expected, number);
  const readSame = async (ids: readonly string[]) => {
    const found = await contract.readReceiver(ids, number);
    throwUnlessSame(found.totals, totals);
    return found.channels;
  };
  const rest =
    totals.claimedMicro - before.knownMicro - before.foreignMicro - (await claimedMore(ctx, expected, channels));
  const others =
    rest === 0n ? [] : await listClaimedOtherwise(ctx, rest > 0n ? listOwingAfter : listBookedAfter, readSame);
  const states = [...channels, ...(others.length === 0 ? [] : await readSame(others))];
  const lossy = await listLossy(db, chain);
  if (hash === null || (await contract.hashAt(number)) !== hash) return null;
  const all = new Map([...expected, ...others].map((id, index) => [id, states[index] as ChannelOnChain]));
  return { before, block: { number, hash }, channels: all, totals, lossy };
}

/** Amount by which the contract has claimed more of these channels, together, than the books say. */
async function claimedMore(
  ctx: ChainContext,
  ids: readonly string[],
  states: readonly ChannelOnChain[],
): Promise<bigint> {
  const claimedMicro = states.reduce((sum, each) => sum + each.claimedMicro, 0n);
  return claimedMicro - (await sumClaimed(ctx.db, ids));
}

const nothing = { claimed: 0n, lost: 0n };

/** Posts the differences. Returns the claimed and lost amounts. */
async function book(
  ctx: ChainContext,
  tx: Tx,
  { before, block, channels, lossy, totals }: Reading,
): Promise<{ claimed: bigint; lost: bigint }> {
  const { chain } = ctx;
  const asset = chain.ledgerAsset;
  const now = ctx.clock.now();
  const receiver = await lockReceiver(tx, chain);
  if (receiver?.booking !== before.booking || receiver.blockNumber !== before.blockNumber) return nothing;
  const locked = await lockBooked(tx, [...new Set([...channels.keys(), ...lossy])]);
  const bookings = locked.map((channel) => bookingOfChannel(channel, channels.get(channel.id) ?? null, asset));
  const knownMicro = bookings.reduce((sum, { claimedDelta }) => sum + claimedDelta, receiver.knownMicro);
  const ofReceiver = bookingOfReceiver({ ...receiver, knownMicro }, totals, {
    asset,
    suspense: () => openSuspense(tx, SETTLEMENT_CONTRACT, now, asset),
  });
  await writeBooked(
    tx,
    bookings.filter(({ transfers }) => transfers.length > 0).map(({ channel }) => channel),
    now,
  );
  const { transfers, next } = await ofReceiver;
  const all = [...bookings.flatMap((each) => each.transfers), ...transfers];
  if (all.length === 0 && block.number < receiver.blockNumber + NOTED_BLOCKS) return nothing;
  await writeReceiver(tx, chain, { ...next, blockNumber: block.number, blockHash: block.hash });
  await postTransfers(tx, all, now);
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);
  return {
    claimed: sum(bookings.map(({ claimedDelta }) => claimedDelta)),
    lost: sum(bookings.map(({ lossDelta }) => lossDelta)),
  };
}

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
