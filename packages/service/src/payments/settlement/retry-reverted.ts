import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { failRefused } from '../onchain/end-payments.ts';
import type { Recorded } from './record-mined.ts';
import { refusalOfNode } from './refusal-cause.ts';
import { simulateAll } from './simulate-all.ts';

type Outcomes = Map<string, Recorded>;
type Send = (payments: readonly NewChainPayment[]) => Promise<Outcomes>;

/** Maximum number of batch retries; after that the reconciler sends each payment alone. */
const MAX_ROUNDS = 8;
const REFUSED = { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' } as const;

/**
 * Re-simulates payments that failed in a batch and resends those that would now succeed: the first one alone, as it may have used up the
 * gas of all after it, the others together. `outcomes` are those of `payments`, in the order of their calls.
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

/** Filters out payments that the token still refuses; incoming ones fail. Null when the chain does not answer. */
async function refuse(ctx: ChainContext, reverted: readonly NewChainPayment[]): Promise<Outcomes | null> {
  try {
    const answers = await simulateAll(ctx, reverted);
    const refused: Outcomes = new Map();
    for (const [index, payment] of reverted.entries()) {
      const answer = answers[index];
      if (answer === null || answer === undefined) continue;
      // A payment that the node owes stays open until the token accepts it, as does one that is refused through no fault of its payer.
      const isLeft = payment.direction === 'out' || (await refusalOfNode(ctx, payment, answer)) !== null;
      const hasFailed = !isLeft && (await failRefused(ctx, payment, REFUSED.reason));
      refused.set(payment.id, hasFailed ? REFUSED : { state: 'unknown', transactionHash: null });
    }
    return refused;
  } catch (error) {
    ctx.log.warn({ err: error }, 'cannot simulate payments that failed in a batch; left to the reconciler');
    return null;
  }
}
