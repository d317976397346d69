import type { HasDb } from '../../db/database.ts';
import type { ChainPayment, NewChainPayment } from '../../payments/onchain/chain-payment.ts';
import { channelOf } from '../../payments/x402/channels/channel.ts';
import type { TakenDeposit } from '../../payments/x402/channels/take-deposit.ts';
import { paymentOf } from '../../payments/x402/claim-payments.ts';
import type { Due } from '../../payments/x402/payment-required.ts';
import type { Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import type { HasRunner } from '../places/runner.ts';

type ReplayContext = HasDb & HasRunner;

export interface Invoked {
  /** As accepted, or as found when the payment had been shown before. */
  readonly invocation: Invocation;
  /** Its end, when this process runs it. */
  readonly ending: Promise<Invocation> | null;
  /** The x402 payment, if any, and the terms that it was asked by. */
  readonly payment: NewChainPayment | null;
  readonly due: Due;
  /** The deposit into a channel that came with the voucher; null: none. */
  readonly deposit: TakenDeposit | null;
  readonly isReplay: boolean;
}

/** The request that a payment was for: the same payment never creates a second one. */
export async function replay(ctx: ReplayContext, payment: ChainPayment, due: Due): Promise<Invoked> {
  const invocation = await findInvocation(ctx.db, payment.subjectId);
  if (!invocation) throw new Error(`payment ${payment.id} has no invocation ${payment.subjectId}`);
  return { invocation, ending: ctx.runner.ending(invocation.id), payment, due, deposit: null, isReplay: true };
}

/** A request that was made before: found by its Idempotency-Key, its payment or its voucher. */
export async function replayRequest(ctx: ReplayContext, invocation: Invocation, due: Due): Promise<Invoked> {
  const isByVoucher = invocation.payerLedgerId !== null && channelOf(invocation.payerLedgerId) !== null;
  const payment = invocation.paymentMethod === 'x402' && !isByVoucher ? await paymentOf(ctx, invocation.id) : null;
  return { invocation, ending: ctx.runner.ending(invocation.id), payment, due, deposit: null, isReplay: true };
}
