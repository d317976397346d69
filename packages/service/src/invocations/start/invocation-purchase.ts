import { hash } from 'node:crypto';
import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasBaseUrl, HasChain } from '../../chain/chain-info.ts';
import type { HasClock } from '../../lib/clock.ts';
import { newId } from '../../lib/id.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import { payerAccountId } from '../../payments/ledger/treasury.ts';
import { answersOffer, type Purchase } from '../../payments/x402/authorize-payment.ts';
import type { Shown } from '../../payments/x402/payment-header.ts';
import { priceClassOf } from '../price.ts';

/** In place of an agent's id: the node chooses the agent. */
export const AUTO = 'auto';

/** Path of an agent's resource, as its payments name it. */
export const resourceOf = (agentId: string, quoteId: string | null = null): string =>
  `/invoke/${quoteId ? `${agentId}?quote=${quoteId}` : agentId}`;

/** The fields of a call that define the purchase. */
export interface Wanted {
  readonly agentId: string;
  readonly quoteId: string | null;
  readonly body: InvocationRequest;
  /** The id that the request must have, derived from its Idempotency-Key. */
  readonly requestId: string | null;
  /** The network address of the caller; null: unknown. */
  readonly client: string | null;
}

/** The price and its agent: `alternativeId` when that is not the agent asked for. */
export interface Price {
  readonly amountMicro: bigint;
  readonly alternativeId: string | null;
}

/**
 * Binds a payment to exactly one purchase: this account, agent, quote, body and offered agent. An offer holds for its price class: one for
 * a small call is not valid for a large one.
 */
export function purchaseOf(
  ctx: HasBaseUrl,
  caller: KnownCaller,
  { agentId, quoteId, body, requestId, client }: Wanted,
  { amountMicro, alternativeId }: Price,
): Purchase {
  const who = caller.kind === 'agent' ? caller.agentId : caller.accountId;
  const asked = quoteId ? `${agentId}?quote=${quoteId}` : agentId;
  const priced = `${asked} ${priceClassOf(body)}`;
  const call = {
    purpose: 'invocation' as const,
    accountId: caller.accountId,
    amountMicro,
    resourceUrl: ctx.baseUrl + resourceOf(agentId, quoteId),
    makeMemo: () => requestId ?? newId('req'),
  };
  return {
    // A call without a payment never needs it.
    get fingerprint() {
      return hash('sha256', JSON.stringify(['invocation', who, agentId, quoteId, body]), 'buffer');
    },
    ledgerAccountId: payerAccountId,
    client,
    keyedId: requestId,
    due:
      alternativeId === null
        ? { ...call, target: priced, description: `Invocation of agent ${agentId}` }
        : {
            ...call,
            ...{ target: `${alternativeId}?instead=${priced}`, alternativeId },
            description:
              agentId === AUTO
                ? `Invocation of agent ${alternativeId}, chosen for the task`
                : `Invocation of agent ${alternativeId} in place of ${agentId}`,
          },
  };
}

/** The alternative or chosen agent that the shown payment was asked for, by an unexpired offer of this node; null: none. */
export function offeredAlternative(
  ctx: HasBaseUrl & HasClock & HasChain & HasSecrets,
  caller: KnownCaller,
  wanted: Wanted & { readonly shown: Shown | null },
): string | null {
  const alternativeId = wanted.shown?.accepted?.extra.agentId;
  const namesAgent = wanted.body.fallback || wanted.agentId === AUTO;
  if (!namesAgent || !wanted.shown || typeof alternativeId !== 'string') return null;
  const { due } = purchaseOf(ctx, caller, wanted, { amountMicro: 0n, alternativeId });
  return answersOffer(ctx, wanted.shown, due) ? alternativeId : null;
}
