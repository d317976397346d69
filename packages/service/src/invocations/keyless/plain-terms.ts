import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { keylessCaller } from '../../access/caller/keyless-caller.ts';
import { requireAgent } from '../../agents/alternatives/find-agent.ts';
import { type PaymentRequiredError, paymentRequired } from '../../payments/x402/payment-required.ts';
import { type KeylessPayer, purchaseOf } from '../start/invocation-purchase.ts';
import type { InvokeContext } from '../start/invoke-input.ts';

/** Any call that is not made more expensive by what it says. */
const plain = InvocationRequest.parse({ task: 'Any' });

const nobody: KeylessPayer = {
  accountId: null,
  key: null,
  admit: () => Promise.reject(new Error('nobody pays')),
  admitVisitor: () => Promise.reject(new Error('nobody calls')),
};

/**
 * The terms of an agent for a call without a key whose body is not known yet; null: wallets do not pay for it. Nothing is taken by them that
 * a call with such a body would not pay.
 */
export async function plainTerms(
  ctx: InvokeContext,
  { agentId, client, asksForChannels }: { agentId: string; client: string | null; asksForChannels: boolean },
): Promise<PaymentRequiredError | null> {
  const { perRequestMicro: amountMicro, status } = await requireAgent(ctx, agentId);
  if (status !== 'online' || amountMicro === 0n || amountMicro < ctx.paymentLimits.minPaymentMicro) return null;
  const wanted = { agentId, quoteId: null, body: plain, requestId: null, client, keyless: nobody, asksForChannels };
  const { due } = purchaseOf(ctx, keylessCaller(null), wanted, { amountMicro, alternativeId: null });
  return paymentRequired(ctx, due, null);
}
