import { onAsset } from '../../chain/networks.ts';
import { invariant } from '../../lib/invariant.ts';
import { isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import { isObject, type Json } from '../../lib/json/json-object.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { type Bill, bookBill, proofOf, signBill } from '../../payments/bills/sign-bill.ts';
import { assetOf } from '../../payments/ledger/asset-account.ts';
import { payingChannel } from '../../payments/schemes/batch-settlement/channel.ts';
import { type BillAnswer, readAgentTerms } from '../../payments/x402/agent-terms.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import type { Tx } from '../../store/sql.ts';
import { markBilled } from '../billed-store.ts';
import type { Invocation, Outcome } from '../invocation.ts';
import type { AgentCall, Billed, CallContext } from './adapter.ts';
import { failed } from './agent-answer.ts';

/** Pauses before the same payment is shown again to an agent that asks for one: it may still be waiting for the chain. */
export const BILLED_PAUSES_MS: readonly number[] = [200, 1000, 2000];

export const billedAgain = failed('bill_repeated', 'The agent asked for payment again after it was shown a payment.');

/** The payment that an earlier attempt signed, to be shown unchanged; null: none. */
export const proofSigned = async (ctx: CallContext, { id, billedMicro }: Invocation): Promise<PaymentProof | null> =>
  billedMicro === null ? null : proofOf(ctx, id);

/** Signings of a bill that another bill of the same channel can come before. */
const MAX_TRIES = 10;

/** Additional conditions for a bill from an agent's home node rather than from the agent. */
export interface BillTerms {
  /** The only permitted recipient; lower case. */
  readonly payTo: string;
  /** Records, in the transaction that signs, the memo of expected refunds; false when that is impossible. */
  awaitRefunds(tx: Tx): Promise<boolean>;
}

/**
 * Signs the payment for an agent's 402, once for each request, on the network that the request was paid on. One that a channel pays is claimed before. Returns the header to show, or the outcome of the call when the bill can't
 * be paid or another attempt has the request.
 */
export async function payAgentBill(
  anyCtx: CallContext,
  { invocation, signal }: Pick<AgentCall, 'invocation' | 'signal'>,
  answer: BillAnswer,
  more?: BillTerms,
): Promise<PaymentProof | Outcome> {
  const { id, accountId, scheme, payerLedgerId, deadline, priceMicro } = invocation;
  const ctx = onAsset(anyCtx, payerLedgerId && assetOf(payerLedgerId));
  if (ctx === null) return removed;
  const terms = readAgentTerms(ctx, answer, priceMicro);
  if ('reason' in terms) return failed(terms.reason, terms.message);
  invariant(payerLedgerId !== null, 'what has a price has a payer');
  if (more && more.payTo !== terms.payTo)
    return failed('bill_not_payable', "The agent's home node wants to be paid on another wallet than its own.");
  const channelId = payingChannel(invocation);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (channelId !== null && !(await ctx.walletFunds.cover(channelId, terms.amountMicro, signal)))
      return signal.aborted ? takenOver : notClaimed;
    await ctx.walletFunds.ensure(terms.amountMicro);
    const signed = await sign(
      ctx,
      invocation,
      { requestId: id, accountId, scheme, payerLedgerId, deadline, terms },
      more,
    );
    // Another bill of the channel came in between, or a reorg: what it needs is claimed again.
    if (signed !== null) return signed;
  }
  return notClaimed;
}

async function sign(
  ctx: CallContext,
  invocation: Invocation,
  bill: Bill,
  more: BillTerms | undefined,
): Promise<PaymentProof | Outcome | null> {
  const payment = await signBill(ctx, bill);
  const proof = await ctx.db
    .transaction(async (tx) => {
      if (more && !(await more.awaitRefunds(tx))) return idGivenTwice;
      if (!(await markBilled(tx, invocation, bill.terms.amountMicro))) return takenOver;
      const booked = await bookBill(ctx, tx, bill, payment);
      if (booked === null) throw new UncoveredError();
      failpoint('before-sign-bill-commit');
      return booked;
    })
    .catch((error) => {
      if (error instanceof UncoveredError) return null;
      throw error;
    });
  failpoint('after-sign-bill-commit');
  return proof;
}

/** Undoes the transaction of a bill that claims do not cover. */
class UncoveredError extends Error {}

const removed = failed('bill_not_payable', 'The network that the call was paid on is closed.');
const takenOver = failed('agent_error', 'Another process has taken the request over, or it has ended.');
const notClaimed = failed(
  'bill_not_payable',
  "The node could not claim the payer's voucher in time, and pays no bill before it has.",
);
const idGivenTwice = failed('bill_not_payable', "The agent's home node bills under the id of another request.");

/** Terms of x402 within a message, as a demand for payment; null: there are none. */
export function billOf(terms: unknown): Billed | null {
  if (!isObject(terms) || !Array.isArray(terms.accepts) || isDeeperThan(terms, MAX_LEVELS.message)) return null;
  const text = Buffer.from(JSON.stringify(terms));
  const headers = terms.x402Version === 1 ? {} : { 'payment-required': text.toString('base64') };
  return { kind: 'billed', headers, body: text };
}

/** A payment as messages carry it. */
export const payloadOf = ({ headerValue }: PaymentProof): Json =>
  JSON.parse(Buffer.from(headerValue, 'base64').toString('utf8'));
