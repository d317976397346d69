import { formatUsdc } from '@agent-network/contracts/money';
import type { Reserves } from '@agent-network/contracts/payments/reserves';
import { operatorAccounts } from '../../accounts/operators.ts';
import type { ChainAccess } from '../../chain/chain-access.ts';
import { isOwnWallet, type NodeIdentity } from '../../chain/chain-info.ts';
import type { IncomingTransfer } from '../../chain/incoming-transfer-client.ts';
import type { TransferReads } from '../../chain/outgoing-transfer-client.ts';
import { readLogRanges, searchLogRanges } from '../../chain/rpc/log-ranges.ts';
import type { Block, WalletBalances } from '../../chain/wallet-balance-client.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { AppError } from '../../lib/app-error.ts';
import { maxOf } from '../../lib/bigints.ts';
import { cachedFlight } from '../../lib/concurrency/single-flight.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Ledger } from '../ledger/ledger-services.ts';
import type { LedgerAccountKind } from '../ledger/ledger-store.ts';
import type { ChannelServices } from '../schemes/batch-settlement/channel-services.ts';
import { type ChannelReserves, channelReserves, noChannels } from './channel-reserves.ts';
import { type Judgement, judgeReserves, nextEpisode } from './reserves.ts';
import {
  type Books,
  findAccountedFor,
  lockEpisode,
  type PaymentUnderWay,
  readBooks,
  transferKey,
  writeEpisode,
} from './reserves-store.ts';

/** The wallet by the chain: transfers to it, and its balance at a block. */
export interface WalletReads extends Pick<TransferReads, 'incomingTransfers'> {
  readonly walletBalances: WalletBalances;
}

type ReservesContext = Store &
  ChainAccess &
  WalletReads &
  Pick<Ledger, 'platformFeeBps'> &
  Pick<ChannelServices, 'channelClaimSettings'>;

export interface ReservesReading {
  readonly reserves: Reserves;
  readonly driftMicro: bigint;
  readonly lossMicro: bigint;
}

export interface ReservesReader {
  /** At most a second old. Throws UNAVAILABLE when the chain does not answer. */
  read(): Promise<Reserves>;
}

const MAX_AGE_MS = 1000;
/** Number of reads: a reorg between two requests, or pruned state, invalidates one of them, not all. */
const TRIES = 3;
/** Longer than any payment window, in blocks. */
const SEARCH_BLOCKS = 5000n;

/** Reads the reserves for all callers: at most one read at a time in this process. */
export function createReservesReader(ctx: ReservesContext): ReservesReader {
  return { read: cachedFlight(MAX_AGE_MS, async () => (await readReserves(ctx)).reserves) };
}

/** Compares the node's liabilities with its wallet. A difference is read several times before it counts. */
export async function readReserves(ctx: ReservesContext): Promise<ReservesReading> {
  let last: ReservesReading | null = null;
  let failure: unknown;
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    try {
      last = await readOnce(ctx);
      if (last.driftMicro === 0n) return last;
    } catch (error) {
      failure = error;
    }
  }
  if (last) return last;
  throw new AppError(
    'UNAVAILABLE',
    'The chain is unavailable, so the reserves cannot be read now.',
    {},
    { cause: failure },
  );
}

/**
 * Reads the head first and the books after, so that everything on the chain at that block is booked or open in the books. Later bookings
 * are identified by their block; open payments are checked at the very block.
 */
async function readOnce(ctx: ReservesContext): Promise<ReservesReading> {
  const block = await ctx.walletBalances.head();
  const now = ctx.clock.now();
  const nowS = Math.floor(now.getTime() / 1000);
  const at = { block: block.number, nowS, minMicro: ctx.channelClaimSettings.minMicro };
  const books = await ctx.db.transaction((tx) => readBooks(tx, ctx.chain, at), {
    isolation: 'repeatable read',
  });
  const comparison = { block, nowS, books };
  const first = await compare(ctx, comparison, null);
  const found = first.judgement.driftMicro === 0n ? first : await compare(ctx, comparison, lookCloser);
  return {
    reserves: toReserves(ctx, { now, block, books, ...found }),
    driftMicro: found.judgement.driftMicro,
    lossMicro: lossOf(books),
  };
}

interface Comparison {
  readonly block: Block;
  readonly nowS: number;
  readonly books: Books;
}

interface Compared {
  readonly onChainMicro: bigint;
  readonly channels: ChannelReserves;
  readonly bookedAfterBlockMicro: bigint;
  readonly judgement: Judgement;
}

/**
 * Compares the books with the chain at the block. `look` replaces the quick sum of unbooked payments and asks the chain again: while an
 * endpoint imports a block it may answer for that one, and is exact only for blocks behind it.
 */
async function compare(
  ctx: ReservesContext,
  { block, nowS, books }: Comparison,
  look: typeof lookCloser | null,
): Promise<Compared> {
  const { walletBalances } = ctx;
  const [onChainMicro, channels, spent] = await Promise.all([
    walletBalances.balanceAt(block),
    readChannelReserves(ctx, block, books),
    walletBalances.areSpentAt(block, books.underWay),
  ]);
  const isUnbooked = ({ standing }: PaymentUnderWay, index: number) => spent[index] === (standing !== 'lost');
  const unbooked = books.underWay.filter(isUnbooked);
  const bookedAfterBlockMicro = books.bookedAfterBlockMicro + channels.bookedAfterBlockMicro;
  const judgement = judgeReserves({
    onChainMicro: onChainMicro + channels.vouchersMicro + channels.claimedMicro,
    bookedMicro: -total(assets.map((kind) => sumOf(books, kind))),
    bookedAfterBlockMicro,
    unbookedMicro:
      channels.unbookedMicro +
      (look ? await look(ctx, { block, nowS, books, unbooked }) : netOf(unbooked) + books.unshownMicro),
    uncoveredLossMicro: maxOf(0n, lossOf(books) - sumOf(books, 'fees')),
  });
  return { onChainMicro, channels, bookedAfterBlockMicro, judgement };
}

/** Accounts of the node's debts. */
export const owedKinds = ['treasury', 'agent', 'payer', 'channel', 'outgoing', 'suspense', 'fees'] as const;

/** Accounts that mirror the node's money on chain: their balances are negative. */
const assets = ['wallet', 'claimed', 'vouchers'] as const;

/** Sums that channels owe at the block; a node without channels asks the chain nothing. */
async function readChannelReserves(
  { settlementContract }: ChainAccess,
  block: Block,
  { channels, quietMicro, receiver }: Books,
): Promise<ChannelReserves> {
  if (channels.length === 0 && receiver === null) return { ...noChannels, vouchersMicro: quietMicro };
  const ids = channels.map(({ id }) => id);
  const asked = channelReserves(channels, receiver, await settlementContract.readReceiver(ids, block.number));
  return { ...asked, vouchersMicro: asked.vouchersMicro + quietMicro };
}

const sumOf = ({ sums }: Books, kind: LedgerAccountKind): bigint => sums.get(kind) ?? 0n;
const lossOf = (books: Books): bigint => -sumOf(books, 'loss');
const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);
/** Net effect on the wallet of payments that the books lack or have in excess. */
const netOf = (payments: readonly PaymentUnderWay[]): bigint =>
  total(
    payments.map(({ direction, standing, valueMicro }) =>
      (direction === 'in') === (standing !== 'lost') ? valueMicro : -valueMicro,
    ),
  );

/**
 * Unbooked amount from the chain's logs, which are slower to read: cancelled authorizations moved nothing, and transfers may not be read
 * yet.
 */
async function lookCloser(
  ctx: ReservesContext,
  { block, nowS, books, unbooked }: Comparison & { readonly unbooked: readonly PaymentUnderWay[] },
): Promise<bigint> {
  const from = block.number > SEARCH_BLOCKS ? block.number - SEARCH_BLOCKS : 0n;
  const found: PaymentUnderWay[] = [];
  for (const payment of unbooked) {
    const isAsked = payment.direction === 'in' && payment.standing !== 'lost';
    const find = async (fromBlock: bigint, toBlock: bigint) =>
      (await ctx.usdc.findSpent(payment, { fromBlock, toBlock })) ?? undefined;
    const spent = isAsked && (await searchLogRanges(from, block.number, find));
    const use = spent && 'to' in spent ? spent : null;
    if (!isAsked || (use?.to === payment.to && use.valueMicro === payment.valueMicro)) found.push(payment);
  }
  return netOf(found) + books.unshownMicro + (await sumUnread(ctx, { block, nowS, readUpTo: books.readUpTo }));
}

/** Sum of transfers since the last read of incoming transfers that no known payment accounts for. */
async function sumUnread(
  ctx: ReservesContext,
  { block, nowS, readUpTo }: { block: Block; nowS: number; readUpTo: bigint | null },
): Promise<bigint> {
  if (readUpTo === null || readUpTo >= block.number) return 0n;
  const transfers: IncomingTransfer[] = [];
  await readLogRanges(readUpTo + 1n, block.number, async (fromBlock, toBlock) => {
    transfers.push(...(await ctx.incomingTransfers.read(fromBlock, toBlock)));
  });
  const found = transfers.filter(({ from }) => !isOwnWallet(ctx.chain, from));
  const authorized = found.flatMap(({ nonce, ...transfer }) => (nonce === null ? [] : [{ ...transfer, nonce }]));
  const { chainId, token } = ctx.chain;
  const known = await findAccountedFor(ctx.db, { chainId, token, nowS }, authorized);
  const unknown = found.filter(
    ({ nonce, ...transfer }) => nonce === null || !known.has(transferKey({ ...transfer, nonce })),
  );
  return total(unknown.map(({ valueMicro }) => valueMicro));
}

function toReserves(
  ctx: Pick<NodeIdentity, 'chain'> & Pick<Ledger, 'platformFeeBps'>,
  reading: { readonly now: Date } & Omit<Comparison, 'nowS'> & Compared,
): Reserves {
  const { books, block, judgement } = reading;
  const owed = (kind: LedgerAccountKind) => formatUsdc(sumOf(books, kind));
  const underWay = (direction: 'in' | 'out') =>
    formatUsdc(
      total(
        books.underWay
          .filter((p) => p.direction === direction && p.standing === 'open')
          .map(({ valueMicro }) => valueMicro),
      ),
    );
  return {
    asOf: reading.now.toISOString(),
    network: ctx.chain.name,
    currency: 'USDC',
    wallet: ctx.chain.wallet,
    block: { number: Number(block.number), hash: block.hash },
    onChain: formatUsdc(reading.onChainMicro),
    channels: {
      vouchers: formatUsdc(reading.channels.vouchersMicro),
      claimed: formatUsdc(reading.channels.claimedMicro),
    },
    liabilities: {
      treasuries: owed('treasury'),
      agents: owed('agent'),
      payers: owed('payer'),
      channels: owed('channel'),
      outgoing: owed('outgoing'),
      suspense: owed('suspense'),
      fees: owed('fees'),
      total: formatUsdc(total(owedKinds.map((kind) => sumOf(books, kind)))),
    },
    inFlight: { incoming: underWay('in'), outgoing: underWay('out') },
    bookedAfterBlock: formatUsdc(reading.bookedAfterBlockMicro),
    difference: formatUsdc(judgement.differenceMicro),
    loss: formatUsdc(lossOf(books)),
    status: judgement.status,
    platformFeeBps: ctx.platformFeeBps,
  };
}

type WatchContext = Parameters<typeof readReserves>[0] & Telemetry;

/**
 * Compares wallet and books. A drift in two consecutive checks is reported to the operators once per episode; the metric
 * `reserves_difference_micro` shows the amount throughout. It keeps its value while the chain does not answer:
 * `reserves_checked_timestamp_seconds` says how old it is.
 */
export async function watchReserves(ctx: WatchContext): Promise<void> {
  const { reserves, driftMicro, lossMicro } = await readReserves(ctx);
  ctx.metrics.reservesDifference.set(Number(driftMicro));
  ctx.metrics.booksLoss.set(Number(lossMicro));
  ctx.metrics.reservesChecked.setToCurrentTime();
  const { ledgerAsset } = ctx.chain;
  const now = ctx.clock.now();
  const { tells, wasTold } = await ctx.db.transaction(async (tx) => {
    const before = await lockEpisode(tx, ledgerAsset);
    const next = nextEpisode(before, reserves.status);
    await writeEpisode(tx, ledgerAsset, next);
    const operators = next.tells ? await operatorAccounts(tx, now) : [];
    const subjectId = `${reserves.block.number}`;
    const events = operators.map((accountId) => ({
      type: 'reserves.drift' as const,
      accountId,
      subjectId,
      data: reserves,
    }));
    await emit(tx, events, now);
    return { tells: next.tells, wasTold: before.isTold };
  });
  const fields = { stream: 'security', driftMicro: String(driftMicro), reserves };
  if (tells) ctx.log.error(fields, 'reserves drift: wallet balance differs from the books');
  else if (wasTold && reserves.status !== 'drift')
    ctx.log.warn(fields, 'reserves drift ended: wallet balance matches the books');
}
