import { unspend } from '../../accounts/limits/spend.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { earnUncollected, returnUncollected } from '../../payments/bills/return-bill.ts';
import { watchBills } from '../../payments/bills/watch-bills.ts';
import type { ChainContext } from '../../payments/chain-outbox/chain-context.ts';
import type { ChainPayment } from '../../payments/chain-outbox/chain-payment.ts';
import { earningAccountOf } from '../../payments/ledger/treasury.ts';
import type { Tx } from '../../store/sql.ts';
import { type BilledRequest, lockBilled, markUnbilled } from '../billed-store.ts';
import { hasEnded } from '../invocation.ts';
import { countMoney } from '../read/count-calls.ts';

/** Settles the bills of agents: collected on chain, or, once that is impossible, returned to whom the money is due. */
export const settleBills = (ctx: ChainContext): Promise<void> => watchBills(ctx, (bill) => giveUp(ctx, bill));

/** The receiver depends on the end of the request, so a bill waits for it. */
async function giveUp(ctx: ChainContext, bill: ChainPayment): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const request = await lockBilled(tx, bill.subjectId);
    if (request === null || !hasEnded(request.status)) return;
    // An agent that called itself earns nothing by it, as where it does not bill: no account pays itself.
    const isToSelf = request.payerLedgerId === earningAccountOf(request.agentId, request.payerLedgerId);
    if (request.status === 'completed' && !isToSelf) await earn(ctx, tx, bill, request);
    else await giveBack(ctx, tx, bill, request);
    failpoint('before-end-bill-commit');
  });
  failpoint('after-end-bill-commit');
}

async function earn(ctx: ChainContext, tx: Tx, bill: ChainPayment, request: BilledRequest): Promise<void> {
  const agent = { id: request.agentId, accountId: request.agentAccountId };
  if (await earnUncollected(ctx, tx, bill, agent))
    await countMoney(tx, request, { earnedMicro: bill.authorization.valueMicro });
}

async function giveBack(ctx: ChainContext, tx: Tx, bill: ChainPayment, request: BilledRequest): Promise<void> {
  const { budgetId, createdAt } = request;
  const costMicro = (request.billedMicro ?? 0n) - request.returnedMicro;
  await returnUncollected(ctx, tx, bill, async () => {
    if (budgetId !== null) await unspend(tx, [{ budgetId, amountMicro: costMicro, spentAt: createdAt }]);
    await markUnbilled(tx, bill.subjectId);
    await countMoney(tx, request, { spentMicro: -costMicro });
  });
}
