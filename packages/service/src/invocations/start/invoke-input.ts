import type { CallFace } from '@agent-network/contracts/agents/agent-calls';
import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { Once } from '../../access/idempotency/once.ts';
import type { HasNewKeyLimit } from '../../access/keys/new-key-limit.ts';
import type { HasFreeCalls } from '../../access/limits/free-calls.ts';
import type { HasListing } from '../../agents/search/listing.ts';
import type { HasPlatformFee } from '../../payments/ledger/platform-fee.ts';
import type { HasSeenTreasuries } from '../../payments/ledger/treasury.ts';
import type { HasChannels } from '../../payments/x402/channels/channels.ts';
import type { PaymentChecks } from '../../payments/x402/payment-checks.ts';
import type { Shown } from '../../payments/x402/payment-header.ts';
import type { Acceptance, Intake } from './accept-invocations.ts';
import type { KeylessPayer } from './invocation-purchase.ts';
import type { PayContext } from './pay-and-run.ts';

/** Treasuries and channels that pay, the operator's fee, and the count of calls that nobody pays for. */
interface PaymentSources extends HasSeenTreasuries, HasChannels, HasPlatformFee, HasFreeCalls, HasNewKeyLimit {}

export interface InvokeContext extends PayContext, PaymentChecks, Intake, PaymentSources, HasListing {}

export interface InvokeInput extends Pick<Acceptance, 'waitingId'> {
  readonly agentId: string;
  readonly quoteId: string | null;
  readonly body: InvocationRequest;
  /** The x402 payment or voucher that came with the request. */
  readonly shown: Shown | null;
  readonly forced: 'x402' | 'treasury' | null;
  /** True when the caller's client says that it can pay by channel. */
  readonly asksForChannels?: boolean;
  /** True when the caller waits for the result. */
  readonly isAwaited: boolean;
  /** True when the agent is asked to stream. */
  readonly isStreamed: boolean;
  /** The node that passes the call on; null: none. */
  readonly via: string | null;
  /** The way in which the call came. */
  readonly face: CallFace;
  /** The network address of the caller; null: unknown. */
  readonly client: string | null;
  readonly once: Once;
  /** Told when the call is about to cost the node gas before it is accepted: from then on it counts, whatever comes of it. */
  readonly keepCount: () => void;
  readonly keyless?: KeylessPayer;
}

/** With the id that the request must have, derived from its Idempotency-Key. */
export type Input = InvokeInput & { readonly requestId: string | null };
