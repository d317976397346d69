import { failpoint } from '../lib/failpoint.ts';
import { earnUncollected, returnUncollected } from '../payments/return-bill.ts';
import { watchBills } from '../payments/watch-bills.ts';
import type { ChainContext } from '../payments/x402/chain-context.ts';
import type { ChainPayment } from '../payments/x402/chain-payment.ts';
import { lockBilled, markUnbilled } from './billed-store.ts';
import { hasEnded } from './invocation.ts';

/** Brings the bills of agents to their end: collected on chain, or, when that can't happen any more, given to whom it is due. */
export const settleBills = (ctx: ChainContext): Promise<void> => watchBills(ctx, (bill) => giveUp(ctx, bill));

/** Whose it is depends on how the request ended, so a bill waits until it has. */
async function giveUp(ctx: ChainContext, bill: ChainPayment): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const request = await lockBilled(tx, bill.subjectId);
    if (request === null || !hasEnded(request.status)) return;
    const agent = { id: request.agentId, accountId: request.agentAccountId };
    if (request.status === 'completed') await earnUncollected(ctx, tx, bill, agent);
    else if (await returnUncollected(ctx, tx, bill)) await markUnbilled(tx, bill.subjectId);
    failpoint('before-end-bill-commit');
  });
  failpoint('after-end-bill-commit');
}
