import type { NodeIdentity } from '../../../chain/chain-info.ts';
import { AppError } from '../../../lib/app-error.ts';
import { until } from '../../../lib/concurrency/until.ts';
import { invariant } from '../../../lib/invariant.ts';
import type { LockMode } from '../../../store/lock-free.ts';
import type { Tx } from '../../../store/sql.ts';
import type { ChainContext } from '../../chain-outbox/chain-context.ts';
import { inAssetOf } from '../../ledger/asset-account.ts';
import { holdVouchers, voucherHoldsPlacedFree } from '../../ledger/hold-money.ts';
import { type NewTransfer, postTransfers, transfersPosted, VOUCHERS } from '../../ledger/ledger-store.ts';
import type { Payer } from '../../ledger/scheme-id.ts';
import { isPaymentPending, paymentPending } from '../../x402/payment-required.ts';
import { keysTaken } from '../exact/claim-payments.ts';
import type { Means, PaymentScheme, PresentedCall, SchemeContext } from '../scheme.ts';
import { admitVouchers } from './admit-vouchers.ts';
import { authorizeVoucher, type NewVoucher, refuseVoucher } from './authorize-voucher.ts';
import { refreshChannels } from './chain/refresh-channels.ts';
import { payingChannel } from './channel.ts';
import { channelOnWire, isVoucher, type PresentedVoucher } from './channel-on-wire.ts';
import type { ChannelServices } from './channel-services.ts';
import {
  admittedGuard,
  allChargesEnded,
  allChargesReserved,
  channelsFound,
  endCharges,
  freeChannelsGuard,
  lockFreeChannels,
} from './channel-store.ts';
import { judgeVoucher, refusalOfVoucher } from './judge-voucher.ts';
import { type TakenDeposit, takeDeposit } from './take-deposit.ts';

type ByVoucher = Means<'batch-settlement'> & { readonly voucher: NewVoucher };

/** Line of deposits into one channel: a call waits as long as a deposit itself waits for the chain. */
const DEPOSIT_LINE = { timeoutMs: 25_000, maxWaiting: 256 };

/**
 * A payment channel pays, by a voucher for the sum of all its calls (x402 scheme `batch-settlement`). The price is reserved in the channel
 * with the acceptance, and claimed from the contract after the end.
 */
export const batchSettlement: PaymentScheme<ByVoucher> = {
  id: 'batch-settlement',
  onWire: channelOnWire,
  fundedAt: 'after_end',
  async authorize(ctx, { shown }, purchase) {
    invariant(shown !== null && isVoucher(shown), 'a channel pays by voucher');
    const voucher = authorizeVoucher(ctx, shown, purchase);
    return {
      ...{ scheme: 'batch-settlement', requestId: voucher.requestId, voucher },
      ...{ priceMicro: voucher.priceMicro, payerLedgerId: voucher.payerLedgerId },
    };
  },
  isPrivate: async (ctx, shown) => isVoucher(shown) && isPrivateVoucher(ctx, shown),
  isNewest: async (ctx, shown) => isVoucher(shown) && isCurrentVoucher(ctx, shown),
  inNameOf: (means, accountId) => ({ ...means, voucher: { ...means.voucher, accountId } }),
  /**
   * Deposits into one channel are taken one by one, each until its call is admitted: of parallel ones with one sum, only the first. Throws
   * PAYMENT_PENDING when it would wait for too long: the same payload is good later, as nothing was done with it.
   */
  async enter(ctx, { voucher }, shown) {
    if (!isVoucher(shown) || shown.type !== 'deposit') return null;
    const leave = await ctx.channels.deposits.acquireWithin(voucher.channelId, DEPOSIT_LINE);
    if (leave === null) throw paymentPending(voucher.requestId, null);
    return leave;
  },
  /** The channel is read at the head before, when its payer owes much. */
  async prepare(ctx, { voucher }, call) {
    await lookAtHead(ctx, voucher, call.shown.payer);
    return depositFor(ctx, voucher, call);
  },
  /**
   * Anyone can name the payer of an empty channel, or present a voucher published by a claim, so refuse both. A voucher for a wrong sum
   * that is not public goes on: another process may have just accepted its request.
   */
  async requireOfPayer(ctx, { voucher }, { due }) {
    const channel = await ctx.channels.read(voucher.channelId);
    const judgement = judgeVoucher(channel, voucher);
    const isFunded = channel !== null && channel.balanceMicro > 0n;
    if (judgement.kind !== 'admitted' && !(isFunded && judgement.isCorrected))
      throw await refuseVoucher(ctx, voucher, due, judgement);
  },
  async claim(tx, means, { now, locks }) {
    const vouchers = means.map(({ voucher }) => voucher);
    const admissions = await admitVouchers(tx, vouchers, now, locks);
    return new Map([...admissions].flatMap(([id, answer]) => (answer.kind === 'admitted' ? [] : [[id, answer]])));
  },
  async hold(tx, holds, { now, locks }) {
    await holdVouchers(tx, holds, now, locks);
    return new Map();
  },
  claimAll(means, now) {
    const vouchers = means.map(({ voucher }) => voucher);
    // Several of one channel count one upon the other.
    if (new Set(vouchers.map(({ channelId }) => channelId)).size < vouchers.length) return null;
    const takers = vouchers.map(({ requestId: id, accountId, purchaseKeys }) => ({ id, accountId, purchaseKeys }));
    return [admittedGuard(vouchers), ...keysTaken(takers, now), allChargesReserved(vouchers, now)];
  },
  holdAll: voucherHoldsPlacedFree,
  /** Ends the turn of the channel: the call that corrected the payer's sum was admitted, or refused. */
  async accepted(ctx, { voucher: { channelId, requestId } }, isAccepted) {
    if (isAccepted) ctx.channels.turns.admitted(channelId, requestId);
    else await ctx.channels.turns.end(channelId, requestId);
  },
  explain: async (ctx, { voucher }, refusal, { due }) =>
    refusal.kind === 'voucher_refused' ? refuseVoucher(ctx, voucher, due, refusal) : null,
  charge: (tx, ended, { now, locks }) => endVouchers(tx, ended, now, locks),
  release: (tx, ended, { now, locks }) => releaseVouchers(tx, ended, now, locks),
  // The payer's next voucher is for less.
  refund: async () => 'channel',
};

/**
 * Takes the deposit that came with a voucher; null: none. The payer is admitted once the deposit is valid and before it is sent. After that
 * the call counts against the limits, as the node has paid gas. While the deposit's outcome is unknown, the caller repeats the call, and
 * each repetition counts.
 */
async function depositFor(
  ctx: SchemeContext,
  voucher: NewVoucher,
  { shown, purchase, admit, keepCount }: PresentedCall,
): Promise<TakenDeposit | null> {
  if (!isVoucher(shown)) return null;
  let isSent = false;
  const steps = {
    async admit() {
      await admit();
    },
    sent() {
      isSent = true;
    },
  };
  try {
    const taken = await takeDeposit(ctx, { shown, voucher, purchase, ...steps });
    if (isSent) keepCount();
    return taken;
  } catch (error) {
    if (isSent && !isPaymentPending(error)) keepCount();
    throw error;
  }
}

/** A request that a channel paid for, and that has ended. */
interface Ended extends Payer {
  readonly id: string;
  readonly costMicro: bigint | null;
  readonly refundMicro: bigint | null;
}

/**
 * Charges the channels of ended requests with their costs and frees the rest of their prices, in the caller's transaction, before accounts
 * of the ledger. Returns the paying wallets by request.
 */
async function endVouchers(
  tx: Tx,
  ended: readonly Ended[],
  now: Date,
  locks: LockMode = 'wait',
): Promise<ReadonlyMap<string, string>> {
  if (ended.length === 0) return new Map();
  if (locks === 'skip')
    await lockFreeChannels(
      tx,
      ended.flatMap(({ payerLedgerId }) => payerLedgerId ?? []),
    );
  const ends = ended.map(({ id, costMicro }) => ({ requestId: id, costMicro: costMicro ?? 0n }));
  return endCharges(tx, ends, now);
}

/** Takes the unspent rest of requests out of the accounts of their channels, as no voucher owes it. Runs after their holds have ended. */
async function releaseVouchers(tx: Tx, ended: readonly Ended[], now: Date, locks: LockMode = 'wait'): Promise<void> {
  await postTransfers(tx, unusedOf(ended), now, locks);
}

/**
 * Guarded flush statements that charge vouchers (before the accounts of the ledger) and release the rest (after the holds). They fail if
 * any row is locked.
 */
export function vouchersEnded(ended: readonly Ended[], now: Date) {
  const channelIds = [...new Set(ended.flatMap((each) => payingChannel(each) ?? []))];
  const ends = ended.map(({ id, costMicro }) => ({ requestId: id, costMicro: costMicro ?? 0n }));
  return {
    channels: channelsFound(channelIds),
    before: [freeChannelsGuard(channelIds), allChargesEnded(ends, now)],
    after: transfersPosted(unusedOf(ended), now, 'skip'),
  };
}

const unusedOf = (ended: readonly Ended[]): NewTransfer[] =>
  ended.flatMap(({ id, payerLedgerId, refundMicro }) =>
    refundMicro && payerLedgerId !== null
      ? [
          {
            id: `unused:${id}`,
            debit: payerLedgerId,
            credit: inAssetOf(payerLedgerId, VOUCHERS),
            amountMicro: refundMicro,
            kind: 'voucher_release' as const,
            subjectId: id,
          },
        ]
      : [],
  );

/** All channels of a payer together may owe as much by vouchers that were taken without a look at the chain. */
const MOST_UNSEEN_MICRO = 1_000_000n;
const LOOK_WITHIN_MS = 5000;

/**
 * Reads a channel at the head before it admits a voucher by which its payer owes much: a withdrawal that is mined is in no block that the
 * follower of the contract has read yet. A reading counts for some seconds. Throws UNAVAILABLE when the chain does not answer: nothing is
 * taken then.
 */
async function lookAtHead(
  ctx: ChainContext & ChannelServices,
  { channelId, priceMicro }: Pick<NewVoucher, 'channelId' | 'priceMicro'>,
  payer: string,
): Promise<void> {
  const { channels } = ctx;
  if (channels.seen.has(channelId)) return;
  if ((await channels.owedBy(payer)) + priceMicro <= MOST_UNSEEN_MICRO) return;
  await channels.looks.run(channelId, async () => {
    if (channels.seen.has(channelId)) return;
    const look = async () => ((await refreshChannels(ctx, [channelId])) ? true : null);
    const isRead = await until(look, { timeoutMs: LOOK_WITHIN_MS, firstMs: 20, maxMs: 500 }).catch((cause) => {
      throw unseen(cause);
    });
    if (!isRead) throw unseen(new Error('the chain changed during each read'));
    channels.seen.set(channelId, true);
  });
}

const unseen = (cause: unknown): AppError =>
  new AppError(
    'UNAVAILABLE',
    'The chain does not answer, so the channel cannot be read now. Nothing was charged. Repeat the identical request.',
    {},
    { cause },
  );

/** True if a voucher of a funded channel is signed, and was in no claim on chain: then only the payer can have presented it. */
async function isPrivateVoucher(ctx: NodeIdentity & ChannelServices, shown: PresentedVoucher): Promise<boolean> {
  const { chain, channels } = ctx;
  const { voucher } = shown;
  if (!chain.channels) return false;
  if (refusalOfVoucher(chain, chain.channels, shown, channels.compute(chain.chainId, voucher))) return false;
  const channel = await channels.read(voucher.channelId);
  if (!channel || channel.balanceMicro === 0n) return false;
  return voucher.maxMicro > channel.publishedMicro && voucher.maxMicro > channel.claimedMicro;
}

/** True if a voucher covers the current charges of its channel, running calls included. Older vouchers do not any more. */
async function isCurrentVoucher({ channels }: ChannelServices, { voucher }: PresentedVoucher): Promise<boolean> {
  const channel = await channels.read(voucher.channelId);
  return channel !== null && voucher.maxMicro >= channel.chargedMicro + channel.reservedMicro;
}
