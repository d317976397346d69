import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { type Due, paymentRequired } from '../../payments/x402/payment-required.ts';
import { hasPricesWithinClass, priceOf } from '../price.ts';
import { quotedPrice } from './quote-invocation.ts';

/** The price of a call: as the caller's quote locks it, else as the agent's rates are. */
export async function lockedPrice(
  ctx: Parameters<typeof quotedPrice>[0],
  caller: KnownCaller,
  agent: CallableAgent,
  { quoteId, body }: { readonly quoteId: string | null; readonly body: InvocationRequest },
): Promise<{ readonly priceMicro: bigint; readonly shownShare: number | null; readonly isUsed: boolean }> {
  if (quoteId) return quotedPrice(ctx, caller, agent, quoteId, body);
  return { priceMicro: priceOf(agent, body).totalMicro, shownShare: agent.shownShare, isUsed: false };
}

/** An offer is bound to a class of calls, not to units and sizes: throws 402 when it was made for fewer units or a smaller call. */
export function requirePaidInFull(
  ctx: Parameters<typeof paymentRequired>[0],
  { agent, priceMicro }: { readonly agent: CallableAgent; readonly priceMicro: bigint },
  paidMicro: bigint,
  due: Due,
): void {
  if (hasPricesWithinClass(agent) && paidMicro < priceMicro) throw paymentRequired(ctx, due, 'invalid_offer');
}
