import type { BillAnswer } from '../../payments/x402/agent-terms.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import type { Outcome } from '../invocation.ts';
import { failed } from './agent-answer.ts';
import type { AgentCall, CallContext } from './agent-call.ts';

/** The upstream demands a payment; it has not done the work. */
export interface Billed extends BillAnswer {
  readonly kind: 'billed';
}

export interface Send {
  /** Sends the request once, with a payment or none, and follows it to its end. */
  (proof: PaymentProof | null): Promise<Outcome | Billed>;
  /** Ends what was opened for the call; asked for once, however the call ends, even if nothing was sent. */
  close?(): void;
}

/** A protocol in which an endpoint may run a repeated request twice, so that the node sends it once. */
export interface Adapter {
  /** Reads what the request depends on. Changes nothing, so it may be repeated. */
  prepare(ctx: CallContext, call: AgentCall): Promise<Send>;
  /** Follows work that an earlier process started; absent: the protocol has no way to. */
  resume?(ctx: CallContext, call: AgentCall, handle: string): Promise<Outcome>;
}

/** Ends a call from within an adapter. */
export class CallFailedError extends Error {
  override readonly name = 'CallFailedError';
  readonly outcome: Outcome;

  constructor(...[reason, message]: Parameters<typeof failed>) {
    super(message);
    this.outcome = failed(reason, message);
  }
}

export const msLeft = (ctx: CallContext, { invocation }: AgentCall): number =>
  Math.max(1, invocation.deadline.getTime() - ctx.clock.now().getTime());
