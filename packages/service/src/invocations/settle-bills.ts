import { failpoint } from '../lib/failpoint.ts';
import { earnUncollected, returnUncollected } from '../payments/return-bill.ts';
import { watchBills } from '../payments/watch-bills.ts';
import type { ChainContext } from '../payments/x402/chain-context.ts';
import type { ChainPayment } from '../payments/x402/chain-payment.ts';
import { lockState, markUnbilled } from './billed-store.ts';
import { hasEnded } from './invocation.ts';

/** Brings the bills of agents to their end: collected on chain, or, when that can't happen any more, given to whom it is due. */
export const settleBills = (ctx: ChainContext): Promise<void> => watchBills(ctx, (bill) => giveUp(ctx, bill));

/** Whose it is depends on how the request ended, so a bill waits until it has. */
async function giveUp(ctx: ChainContext, bill: ChainPayment): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const request = await lockState(tx, bill.subjectId);
    if (request === null || !hasEnded(request.status)) return;
    if (request.status === 'completed') await earnUncollected(ctx, tx, bill, request.agentId);
    else if (await returnUncollected(ctx, tx, bill)) await markUnbilled(tx, bill.subjectId);
    failpoint('before-end-bill-commit');
  });
  failpoint('after-end-bill-commit');
}
