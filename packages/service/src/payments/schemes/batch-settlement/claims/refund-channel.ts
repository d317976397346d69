import { createHash } from 'node:crypto';
import {
  allOf,
  claimCall,
  refundCall,
  SETTLEMENT_CONTRACT,
  sweepCall,
} from '../../../../chain/channels/channel-calls.ts';
import { type ChannelConfig, channelDigestsOf } from '../../../../chain/channels/channel-digests.ts';
import type { ChannelOnChain } from '../../../../chain/channels/settlement-contract-client.ts';
import { AppError } from '../../../../lib/app-error.ts';
import { until } from '../../../../lib/concurrency/until.ts';
import { HOUR_MS } from '../../../../lib/duration.ts';
import type { ChainCall } from '../../../chain-outbox/open-transaction.ts';
import { type PaymentTerms, paymentRequired } from '../../../x402/payment-required.ts';
import type { PresentedPayment } from '../../../x402/presented-payment.ts';
import { correctionOf, refusal, type VoucherContext } from '../authorize-voucher.ts';
import type { Channel } from '../channel.ts';
import { isVoucher, type PresentedVoucher } from '../channel-on-wire.ts';
import { refusalOfVoucher } from '../judge-voucher.ts';
import type { ClaimContext } from './claim-context.ts';
import { isTooOften, planRefund, type RefundAsk, type RefundPlan, type RefundRefusal } from './refund-plan.ts';
import {
  type ChannelRefund,
  countRefunds,
  findRefund,
  findRefundable,
  findRefundById,
  type RefundableChannel,
} from './refund-store.ts';
import { sendRefund } from './send-refund.ts';

export type RefundAnswer =
  | { readonly kind: 'refunded'; readonly transactionHash: string; readonly amountMicro: bigint }
  | { readonly kind: 'refused'; readonly reason: RefundRefusal };

/** Calls in flight and claims end within this time, or the channel is busy. */
const BUSY_MS = 3000;
const GAS = 400_000n;

/**
 * Refunds a payer the rest of its channel, or a part of it, in one transaction, which also claims and sweeps the charges if all is
 * refunded. The refund and its bytes are committed before they are sent, and close the channel for vouchers until the chain has decided.
 * The same payload gets the same answer. Throws RATE_LIMITED after too many refunds, and UNAVAILABLE when the chain has not decided in
 * time; presenting the payload again returns the outcome.
 */
export async function refundChannel(ctx: ClaimContext, ask: RefundAsk): Promise<RefundAnswer> {
  const find = () => findRefund(ctx.db, ask.channelId, ask.payloadKey);
  const refusal = (await find()) ? null : await refundOnce(ctx, ask);
  // Another request with the same payload may have been faster, and changed what this one was judged by.
  const refund = await find();
  return refund ? outcomeOf(ctx, refund) : (refusal ?? busy);
}

/** Makes the refund; the reason when it is refused. A call or a claim that comes in between is waited for, like those before. */
async function refundOnce(ctx: ClaimContext, ask: RefundAsk): Promise<RefundAnswer | null> {
  const endMs = performance.now() + BUSY_MS;
  for (;;) {
    const plan = await planBy(endMs, ctx, ask);
    if (plan.kind !== 'refund') return plan.kind === 'busy' ? busy : plan;
    const tried = await tryRefund(ctx, ask, plan);
    if (tried === 'written') return null;
    if (tried === 'refused') return refused;
    if (performance.now() > endMs) return busy;
  }
}

/** Writes and sends the refund that was planned, unless the contract refuses it, or the channel was changed since. */
async function tryRefund(
  ctx: ClaimContext,
  ask: RefundAsk,
  { channel, onChain, amountMicro, isFull }: PlannedRefund,
): Promise<'written' | 'changed' | 'refused'> {
  await requireRarely(ctx, ask, { payer: channel.payer, isFull });
  await ctx.gas.requireGas(GAS, 'The node cannot send anything now: its keys lack gas (ETH). Nothing was refunded.');
  const call = await refundCallOf(ctx, ask, { channel, onChain, amountMicro, isFull });
  const reason = await ctx.claimSimulator.simulate(call.data);
  if (reason === null) return sendRefund(ctx, ask, { call, amountMicro, nonce: onChain.refundNonce });
  ctx.log.warn({ channelId: ask.channelId, reason }, 'contract refuses the refund of a channel');
  return 'refused';
}

const refused: RefundAnswer = {
  kind: 'refused',
  reason: 'invalid_batch_settlement_evm_refund_transaction_failed',
};
const busy: RefundAnswer = { kind: 'refused', reason: 'invalid_batch_settlement_evm_channel_busy' };

type PlannedRefund = Extract<RefundPlan, { kind: 'refund' }> & {
  readonly channel: RefundableChannel;
  readonly onChain: ChannelOnChain;
};
type Planned = Exclude<RefundPlan, { kind: 'refund' }> | PlannedRefund;

/** The plan once no call is in flight; `busy` when one still is at the end. */
async function planBy(endMs: number, ctx: ClaimContext, ask: RefundAsk): Promise<Planned> {
  const read = async (): Promise<Planned> => {
    const channel = await findRefundable(ctx.db, ask.channelId);
    const [onChain] = await ctx.settlementContract.readChannels([ask.channelId], null);
    const plan = planRefund(channel, ask, onChain ?? { balanceMicro: 0n }, ctx.channelClaimSettings);
    return plan.kind === 'refund' && channel && onChain ? { ...plan, channel, onChain } : (plan as Planned);
  };
  const ready = await until(
    async () => {
      const plan = await read();
      return plan.kind === 'busy' ? null : plan;
    },
    { timeoutMs: endMs - performance.now(), firstMs: 20, maxMs: 250 },
  );
  return ready ?? { kind: 'busy' };
}

async function requireRarely(
  ctx: ClaimContext,
  { channelId, client }: RefundAsk,
  { payer, isFull }: { payer: string; isFull: boolean },
): Promise<void> {
  const nowMs = ctx.clock.now().getTime();
  const since = { hourAgo: new Date(nowMs - HOUR_MS), dayAgo: new Date(nowMs - 24 * HOUR_MS) };
  const before = await countRefunds(ctx.db, { channelId, payer, client, ...since });
  if (!isTooOften(before, { isFull }, ctx.channelClaimSettings)) return;
  ctx.metrics.channelRefusals.inc({ reason: 'refunded_too_often' });
  const limit = ctx.channelClaimSettings.refundsPerDay;
  throw new AppError(
    'RATE_LIMITED',
    'This channel or its payer was refunded too often. Ask for all that is left in an hour.',
    {
      details: { limit, type: 'channel_refunds', retryAfterS: 3600 },
    },
  );
}

async function refundCallOf(
  { chain, wallet }: ClaimContext,
  { channelId, voucher }: RefundAsk,
  of: { channel: RefundableChannel; onChain: ChannelOnChain; amountMicro: bigint; isFull: boolean },
): Promise<ChainCall> {
  const { channel, onChain, amountMicro } = of;
  const digests = channelDigestsOf(chain.chainId);
  const config: ChannelConfig = channel;
  const signature = await wallet.signHash(digests.refundDigest(channelId, onChain.refundNonce, amountMicro));
  const refund = refundCall(config, amountMicro, onChain.refundNonce, signature);
  const entry = { channelId, config, ...voucher, totalMicro: channel.chargedMicro };
  if (!of.isFull || channel.chargedMicro <= onChain.claimedMicro)
    return { to: SETTLEMENT_CONTRACT, data: allOf([refund]), gas: GAS };
  const claim = claimCall([entry], await wallet.signHash(digests.claimBatchDigest([entry])));
  // The claimed amount is swept as well: perhaps nothing else will be claimed that would bring it into the wallet.
  const sweep = sweepCall(chain.wallet, chain.token);
  return { to: SETTLEMENT_CONTRACT, data: allOf([claim, sweep, refund]), gas: GAS };
}

async function outcomeOf(ctx: ClaimContext, { channelId, id }: ChannelRefund): Promise<RefundAnswer> {
  const ended = await until(
    async () => {
      const refund = await findRefundById(ctx.db, id);
      return refund?.state === 'sent' ? null : refund;
    },
    { timeoutMs: BUSY_MS, firstMs: 20, maxMs: 250 },
  );
  if (ended === null)
    throw new AppError('UNAVAILABLE', 'The refund is on its way. Show the same payload again for its outcome.');
  const { state, refundedMicro, transactionHash } = ended;
  if (state === 'done') return { kind: 'refunded', transactionHash, amountMicro: refundedMicro ?? 0n };
  ctx.log.error({ channelId, hash: transactionHash }, 'refund of a channel failed on chain');
  return refused;
}

interface Refunded {
  readonly channel: Channel;
  readonly amountMicro: bigint;
  readonly transactionHash: string;
}

/**
 * Refunds the channel of a payload of the type `refund`. Throws PAYMENT_REQUIRED with the offer that refund payloads echo when there is
 * none, and with the scheme's code when it is refused. Any holder of the channel's key may request it; the money goes to the payer.
 */
export async function refundByPayload(
  ctx: VoucherContext & ClaimContext,
  shown: PresentedPayment | null,
  { due, client }: { readonly due: PaymentTerms; readonly client: string | null },
): Promise<Refunded> {
  if (!shown) throw paymentRequired(ctx, due, null);
  const { chain } = ctx;
  if (!chain.channels) throw refusal(ctx, due, 'unsupported_scheme');
  if (!isVoucher(shown) || shown.type !== 'refund')
    throw refusal(ctx, due, 'invalid_batch_settlement_evm_refund_payload');
  const { voucher, refundMicro } = shown;
  const refused = refusalOfVoucher(chain, chain.channels, shown, ctx.channels.compute(chain.chainId, voucher));
  if (refused) throw refusal(ctx, due, refused);
  const answer = await refundChannel(ctx, {
    channelId: voucher.channelId,
    voucher: { maxMicro: voucher.maxMicro, signature: voucher.signature },
    amountMicro: refundMicro,
    payloadKey: payloadKeyOf(shown),
    client,
  });
  const channel = await ctx.channels.read(voucher.channelId);
  if (answer.kind === 'refunded' && channel) return { ...answer, channel };
  const reason = answer.kind === 'refused' ? answer.reason : 'invalid_batch_settlement_evm_channel_not_found';
  // Anybody can show a voucher that stands in a claim.
  const isTold = reason === 'invalid_batch_settlement_evm_cumulative_amount_mismatch' && channel !== null;
  throw isTold && voucher.maxMicro > channel.publishedMicro
    ? refusal(ctx, due, reason, { correction: correctionOf(channel) })
    : refusal(ctx, due, reason);
}

/** Key of a refund request. It includes the echoed offer, which distinguishes two refunds of the same amount. */
function payloadKeyOf({ voucher, refundMicro, accepted }: PresentedVoucher): string {
  const parts = [String(voucher.maxMicro), refundMicro === null ? 'all' : String(refundMicro), accepted.extra.memo];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
