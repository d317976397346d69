import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { failPayment } from '../onchain/end-payments.ts';
import type { Recorded } from './record-mined.ts';
import { simulateAll } from './simulate-all.ts';

type Outcomes = Map<string, Recorded>;
type Send = (payments: readonly NewChainPayment[]) => Promise<Outcomes>;

/** How often the innocent are sent again in company; after that each goes alone, in the reconciler's time. */
const MAX_ROUNDS = 8;
const REFUSED = { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' } as const;

/**
 * Who failed in company is asked about, and sent once more if the token would take it now: the first of them alone, as it may have
 * used up the gas of all that came after it, the others together. `outcomes` are those of `payments`, in the order of their calls.
 */
export async function retryReverted(
  ctx: ChainContext,
  payments: readonly NewChainPayment[],
  outcomes: Outcomes,
  send: Send,
  round = 1,
): Promise<Outcomes> {
  const reverted = payments.filter(({ id }) => outcomes.get(id)?.state === 'reverted');
  if (payments.length === 1 || reverted.length === 0 || round > MAX_ROUNDS) return outcomes;
  const refused = await refuse(ctx, reverted);
  if (!refused) return outcomes;
  const [suspect, ...others] = reverted.filter(({ id }) => !refused.has(id));
  const groups = [suspect ? [suspect] : [], others].filter((group) => group.length > 0);
  const sent = await Promise.all(
    groups.map(async (group) => retryReverted(ctx, group, await send(group), send, round + 1)),
  );
  return new Map([...outcomes, ...refused, ...sent.flatMap((each) => [...each])]);
}

/** Sorts out those that the token would not take now either; incoming ones have failed. Null when the chain cannot be asked. */
async function refuse(ctx: ChainContext, reverted: readonly NewChainPayment[]): Promise<Outcomes | null> {
  try {
    const answers = await simulateAll(ctx, reverted);
    const refused: Outcomes = new Map();
    for (const [index, payment] of reverted.entries()) {
      if (answers[index] === null) continue;
      // What the node owes stays open until the token takes it.
      const isOwed = payment.direction === 'out';
      if (!isOwed) await failPayment(ctx, payment, REFUSED.reason);
      refused.set(payment.id, isOwed ? { state: 'unknown', transactionHash: null } : REFUSED);
    }
    return refused;
  } catch (error) {
    ctx.log.warn({ err: error }, 'cannot simulate payments that failed in a batch; left to the reconciler');
    return null;
  }
}
