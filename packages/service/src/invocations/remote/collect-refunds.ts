import { unspend } from '../../access/limits/spend.ts';
import type { Tx } from '../../db/sql.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { returnWalletOf } from '../../payments/ledger/treasury.ts';
import type { ChainContext } from '../../payments/onchain/chain-context.ts';
import { arrivedRefunds, bookRefund, type ReturnTo } from '../../payments/payouts/await-refunds.ts';
import { owePayer } from '../../payments/payouts/refund-payer.ts';
import { type BilledRequest, lockBilled, markReturned } from '../billed-store.ts';
import { hasEnded } from '../invocation.ts';
import { countMoney } from '../stats/count-calls.ts';

type Arrived = Awaited<ReturnType<typeof arrivedRefunds>>[number];

/** Passes refunds from other nodes on to the payers of the requests: to a treasury at once, to a wallet on chain. */
export async function collectRefunds(ctx: ChainContext): Promise<void> {
  for (const arrived of await arrivedRefunds(ctx))
    await ctx.db
      .transaction(async (tx) => {
        await collect(ctx, tx, arrived);
        failpoint('before-end-bill-commit');
      })
      .catch((error) => ctx.log.error({ err: error, ...arrived }, 'booking of a received refund failed'));
  failpoint('after-end-bill-commit');
}

async function collect(ctx: ChainContext, tx: Tx, arrived: Arrived): Promise<void> {
  const { requestId, purpose } = arrived;
  const request = await lockBilled(tx, requestId);
  const isOver = request === null || hasEnded(request.status);
  const to = request && toReturn(request);
  // An open request may still be billed.
  if (!to && !isOver) return;
  const note = async (amountMicro: bigint) => {
    await markReturned(tx, requestId, amountMicro);
    if (isOver && request) await countMoney(tx, request, { spentMicro: -amountMicro });
    if (isOver && request?.budgetId)
      await unspend(tx, [{ budgetId: request.budgetId, amountMicro, spentAt: request.createdAt }]);
  };
  const amountMicro = await bookRefund(ctx, tx, arrived, to, note);
  // The end of an open request returns all that it does not cost, this amount included.
  if (amountMicro === 0n || !to || !isOver) return;
  const address = await returnWalletOf(tx, to.payerLedgerId);
  if (address === null) return;
  await owePayer(ctx, tx, {
    ...{ requestId, accountId: to.accountId, address, amountMicro },
    ledgerAccountId: to.payerLedgerId,
    purpose: purpose === 'home_refund' ? 'return' : 'second_return',
  });
}

/** null: nothing was paid for it. */
function toReturn({ accountId, payerLedgerId, billedMicro, returnedMicro }: BilledRequest): ReturnTo | null {
  if (payerLedgerId === null || billedMicro === null) return null;
  return { accountId, payerLedgerId, mostMicro: billedMicro - returnedMicro };
}
