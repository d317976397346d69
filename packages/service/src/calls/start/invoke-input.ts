import type { CallGateway } from '@agent-network/contracts/agents/agent-calls';
import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { AccountServices } from '../../accounts/account-services.ts';
import type { Once } from '../../accounts/idempotency/once.ts';
import type { KeySettings } from '../../accounts/limits/plan-caps.ts';
import type { AgentServices } from '../../agents/agent-services.ts';
import type { NewChainPayment } from '../../payments/chain-outbox/chain-payment.ts';
import type { Ledger } from '../../payments/ledger/ledger-services.ts';
import type { TakenDeposit } from '../../payments/schemes/batch-settlement/take-deposit.ts';
import { paymentOf } from '../../payments/schemes/exact/claim-payments.ts';
import type { PaymentChecks } from '../../payments/schemes/exact/payment-checks.ts';
import type { PaymentTerms } from '../../payments/x402/payment-required.ts';
import type { PresentedPayment } from '../../payments/x402/presented-payment.ts';
import type { Store } from '../../store/database.ts';
import type { CallServices } from '../call-services.ts';
import type { Invocation } from '../invocation.ts';
import type { SteadyPairs } from '../pricing/agreed-price.ts';
import type { Acceptance, Intake } from './accept-invocations.ts';
import type { KeylessPayer } from './invocation-purchase.ts';
import type { PayContext } from './pay-and-run.ts';

export interface InvokeContext
  extends PayContext,
    PaymentChecks,
    Intake,
    Ledger,
    AccountServices,
    Pick<KeySettings, 'newKeyPerCallMicro'>,
    AgentServices {
  readonly steadyPairs: SteadyPairs;
}

export interface InvokeInput extends Pick<Acceptance, 'waitingId'> {
  readonly agentId: string;
  readonly quoteId: string | null;
  readonly body: InvocationRequest;
  /** The x402 payment or voucher that came with the request. */
  readonly shown: PresentedPayment | null;
  readonly forced: 'x402' | 'treasury' | null;
  /** True when the caller's client supports payment by channel. */
  readonly asksForChannels?: boolean;
  /** True when the caller waits for the result. */
  readonly isAwaited: boolean;
  /** True when the agent is asked to stream. */
  readonly isStreamed: boolean;
  /** The node that passes the call on; null: none. */
  readonly via: string | null;
  /** The way in which the call came. */
  readonly gateway: CallGateway;
  /** The network address of the caller; null: unknown. */
  readonly client: string | null;
  readonly once: Once;
  /** Called before the node spends gas on an unaccepted call. From here on the call counts against the rate limit, even if it fails. */
  readonly keepCount: () => void;
  readonly keyless?: KeylessPayer;
  /** The answer to a caller that waits, once the request has ended; absent: it is made of more than the request. */
  readonly answerOf?: (ended: Invocation) => unknown;
}

/** With the id that the request must have, derived from its Idempotency-Key. */
export type Input = InvokeInput & { readonly requestId: string | null };

export interface Invoked {
  /** The accepted invocation, or the earlier one of a repeated call. */
  readonly invocation: Invocation;
  /** Resolves at its end if this process runs it; null otherwise. */
  readonly ending: Promise<Invocation> | null;
  /** The transfer that pays for it, if any, and its terms. */
  readonly payment: NewChainPayment | null;
  readonly due: PaymentTerms;
  /** The deposit into a channel that came with the voucher; null: none. */
  readonly deposit: TakenDeposit | null;
  readonly isReplay: boolean;
}

/** A request that was made before. `payment`: its transfer, where it is known. */
export async function replayRequest(
  ctx: Store & CallServices,
  invocation: Invocation,
  due: PaymentTerms,
  payment: NewChainPayment | null = null,
): Promise<Invoked> {
  const { id, scheme } = invocation;
  const paid = payment ?? (scheme === 'exact' ? await paymentOf(ctx, id) : null);
  return { invocation, ending: ctx.runner.ending(id), payment: paid, due, deposit: null, isReplay: true };
}
