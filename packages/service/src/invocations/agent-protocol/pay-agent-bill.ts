import type { Tx } from '../../db/sql.ts';
import { invariant } from '../../lib/invariant.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { proofOf, signBill } from '../../payments/bills/sign-bill.ts';
import { type BillAnswer, readAgentTerms } from '../../payments/x402/agent-terms.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import { markBilled } from '../billed-store.ts';
import type { Invocation, Outcome } from '../invocation.ts';
import { failed } from './agent-answer.ts';
import type { CallContext } from './agent-call.ts';

/** Pauses before the same payment is shown again to an agent that asks for one: it may still be waiting for the chain. */
export const BILLED_PAUSES_MS: readonly number[] = [200, 1000, 2000];

export const billedAgain = failed('bill_repeated', 'The agent asked for payment again after it was shown a payment.');

/** The payment that an earlier attempt signed, to be shown unchanged; null: none. */
export const proofSigned = async (ctx: CallContext, { id, billedMicro }: Invocation): Promise<PaymentProof | null> =>
  billedMicro === null ? null : proofOf(ctx, id);

/** Additional conditions for a bill from an agent's home node rather than from the agent. */
export interface BillTerms {
  /** The only permitted recipient; lower case. */
  readonly payTo: string;
  /** Records, in the transaction that signs, the memo of expected refunds; false when that is impossible. */
  awaitRefunds(tx: Tx): Promise<boolean>;
}

/**
 * Signs the payment for an agent's 402, once for each request. Returns the header to show, or the outcome of the call when the bill can't
 * be paid or another attempt has the request.
 */
export async function payAgentBill(
  ctx: CallContext,
  invocation: Invocation,
  answer: BillAnswer,
  more?: BillTerms,
): Promise<PaymentProof | Outcome> {
  const { id, accountId, payerLedgerId, deadline, priceMicro } = invocation;
  const terms = readAgentTerms(ctx, answer, priceMicro);
  if ('reason' in terms) return failed(terms.reason, terms.message);
  invariant(payerLedgerId !== null, 'what has a price has a payer');
  if (more && more.payTo !== terms.payTo)
    return failed('bill_not_payable', "The agent's home node wants to be paid on another wallet than its own.");
  await ctx.walletFunds.ensure(terms.amountMicro);
  const proof = await ctx.db.transaction(async (tx) => {
    if (more && !(await more.awaitRefunds(tx))) return idGivenTwice;
    if (!(await markBilled(tx, invocation, terms.amountMicro))) return null;
    const signed = await signBill(ctx, tx, { requestId: id, accountId, payerLedgerId, deadline, terms });
    failpoint('before-sign-bill-commit');
    return signed;
  });
  failpoint('after-sign-bill-commit');
  return proof ?? failed('agent_error', 'Another process has taken the request over, or it has ended.');
}

const idGivenTwice = failed('bill_not_payable', "The agent's home node bills under the id of another request.");
