import { hash } from 'node:crypto';
import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { isKeyless, KEYLESS } from '../../accounts/keyless-caller.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { newId } from '../../lib/id.ts';
import { payerAccountId } from '../../payments/ledger/treasury.ts';
import { isVoucher } from '../../payments/schemes/batch-settlement/channel-on-wire.ts';
import { answersOffer, echoedOffer, type PayablePurchase } from '../../payments/schemes/exact/authorize-payment.ts';
import type { PresentedPayment } from '../../payments/x402/presented-payment.ts';
import type { Store } from '../../store/database.ts';
import { fitsChannel } from '../deadline.ts';
import { priceClassOf } from '../pricing/price.ts';
import type { UsageTerms } from '../usage/rate-usage.ts';

/** Value for an agent id in the path: the node chooses the agent. */
export const AUTO = 'auto';

/** Path of an agent's resource, as its payments name it. */
export const resourceOf = (agentId: string, quoteId: string | null = null): string =>
  `/invoke/${quoteId ? `${agentId}?quote=${quoteId}` : agentId}`;

/** Resource of a call without an API key. */
export const keylessResourceOf = (agentId: string): string => `/x402/${agentId}`;

/** The fields of a call that define the purchase. */
export interface WantedCall {
  readonly agentId: string;
  readonly quoteId: string | null;
  readonly body: InvocationRequest;
  /** The id that the request must have, derived from its Idempotency-Key. */
  readonly requestId: string | null;
  /** The network address of the caller; null: unknown. */
  readonly client: string | null;
  /** True when the caller's client supports payment by channel. */
  readonly asksForChannels?: boolean;
  readonly shown?: PresentedPayment | null;
  /** Set for a caller without an API key. */
  readonly keyless?: KeylessPayer;
}

/** The payer of a call without an API key. */
export interface KeylessPayer {
  /** The account of the shown payment's wallet; null: it has none. */
  readonly accountId: string | null;
  /** A name made from the Idempotency-Key: a further key of the purchase. */
  readonly key: string | null;
  /** The caller that a good payment of this wallet is accepted for. */
  readonly admit: (wallet: string) => Promise<KnownCaller>;
  /** The caller that a free call is accepted for. */
  readonly admitVisitor: () => Promise<KnownCaller>;
}

/** The price and its agent: `alternativeId` when that is not the agent asked for. */
export interface OfferedPrice {
  readonly amountMicro: bigint;
  readonly alternativeId: string | null;
  /** True for an agent of another node, which is paid on the default network. */
  readonly isOnDefault?: boolean;
  /** The cost of an early end after output was shown, where it is not the price. */
  readonly shownMicro?: bigint;
  /** The terms of a call that is paid by usage. */
  readonly usageTerms?: UsageTerms | null;
}

/**
 * Binds a payment to exactly one purchase: this account (without an API key: this wallet), agent, quote, body and offered agent. An offer
 * holds for its price class: one for a simple call is not valid for a difficult one.
 */
export function purchaseOf(
  ctx: NodeIdentity & Store,
  caller: KnownCaller,
  { agentId, quoteId, body, requestId, client, keyless, asksForChannels = false, shown = null }: WantedCall,
  { amountMicro, alternativeId, isOnDefault = false, shownMicro = amountMicro, usageTerms = null }: OfferedPrice,
): PayablePurchase {
  const who = payerNameOf(caller);
  const asked = quoteId ? `${agentId}?quote=${quoteId}` : agentId;
  const priced = `${asked} ${priceClassOf(body)}`;
  const used = usageTerms ? `; ${usageTerms.least} USDC or what it uses, the rest is returned` : '';
  const early = shownMicro === amountMicro ? '' : `; ${formatUsdc(shownMicro)} USDC if it is ended early after output`;
  const call = {
    purpose: 'invocation' as const,
    accountId: caller.accountId,
    // Whoever shows a voucher can pay by one.
    ...(asksForChannels || (shown && isVoucher(shown)) ? { channels: 'asked' as const } : {}),
    amountMicro,
    ...(isOnDefault ? { isOnDefault } : {}),
    takesChannel: fitsChannel(body.deadline, ctx.clock.now(), ctx.chain.channels?.longestCallS ?? 0),
    resourceUrl: ctx.baseUrl + (keyless ? keylessResourceOf(agentId) : resourceOf(agentId, quoteId)),
    // An id that a visitor's key names is for a free call: whoever repeats that key without a payment finds no paid one.
    makeMemo: () => (keyless ? null : requestId) ?? newId('req'),
  };
  return {
    // A call without a payment never needs it.
    get fingerprint() {
      return hash('sha256', JSON.stringify(['invocation', who, agentId, quoteId, body]), 'buffer');
    },
    ledgerAccountId: payerAccountId,
    client,
    keyedId: keyless ? keyless.key : requestId,
    ...(keyless ? { keyHolderId: keyless.accountId } : {}),
    due:
      alternativeId === null
        ? { ...call, target: priced, description: `Invocation of agent ${agentId}${used}${early}` }
        : {
            ...call,
            ...{ target: `${alternativeId}?instead=${priced}`, alternativeId },
            description:
              agentId === AUTO
                ? `Invocation of agent ${alternativeId}, chosen for the task${used}${early}`
                : `Invocation of agent ${alternativeId} in place of ${agentId}${used}${early}`,
          },
  };
}

function payerNameOf(caller: KnownCaller): string {
  if (caller.kind === 'agent') return caller.agentId;
  return isKeyless(caller) ? `${KEYLESS} ${caller.address}` : caller.accountId;
}

/** The alternative or chosen agent in this node's offer that a presented payment answers; null: none. */
export interface Offered {
  /** While the offer has not expired: the call may be bought by it. */
  readonly offeredId: string | null;
  /** Also afterwards: the call may have been bought by it. */
  readonly echoedId: string | null;
}

export function offeredAlternative(
  ctx: NodeIdentity & Store & Pick<NodeKeys, 'secrets'>,
  caller: KnownCaller,
  wanted: WantedCall & { readonly shown: PresentedPayment | null },
): Offered {
  const none = { offeredId: null, echoedId: null };
  const alternativeId = wanted.shown?.accepted?.extra.agentId;
  const namesAgent = wanted.body.fallback || wanted.agentId === AUTO;
  if (!namesAgent || !wanted.shown || typeof alternativeId !== 'string') return none;
  const { due } = purchaseOf(ctx, caller, wanted, { amountMicro: 0n, alternativeId });
  if (!echoedOffer(ctx, wanted.shown, due)) return none;
  return { offeredId: answersOffer(ctx, wanted.shown, due) ? alternativeId : null, echoedId: alternativeId };
}
