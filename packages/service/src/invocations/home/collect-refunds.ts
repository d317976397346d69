import { unspend } from '../../access/spend.ts';
import { failpoint } from '../../lib/failpoint.ts';
import { arrivedRefunds, bookRefund } from '../../payments/await-refunds.ts';
import { owePayer } from '../../payments/refund-payer.ts';
import { payerAddressOf } from '../../payments/treasury.ts';
import type { ChainContext } from '../../payments/x402/chain-context.ts';
import { lockBilled, markReturned } from '../billed-store.ts';
import { hasEnded } from '../invocation.ts';

type Arrived = Awaited<ReturnType<typeof arrivedRefunds>>[number];

/** Gives refunds that came from other nodes to whoever paid for the requests: to a treasury at once, to a wallet on chain. */
export async function collectRefunds(ctx: ChainContext): Promise<void> {
  for (const arrived of await arrivedRefunds(ctx))
    await collect(ctx, arrived).catch((error) =>
      ctx.log.error({ err: error, ...arrived }, 'a refund that came could not be booked'),
    );
}

async function collect(ctx: ChainContext, arrived: Arrived): Promise<void> {
  const { requestId, purpose } = arrived;
  await ctx.db.transaction(async (tx) => {
    const request = await lockBilled(tx, requestId);
    if (!request?.payerLedgerId || request.billedMicro === null) return;
    const { accountId, payerLedgerId, budgetId, createdAt } = request;
    const mostMicro = request.billedMicro - request.returnedMicro;
    // While it is open its end gives back all that it does not cost, this with the rest.
    const isOver = hasEnded(request.status);
    const note = async (amountMicro: bigint) => {
      await markReturned(tx, requestId, amountMicro);
      if (isOver && budgetId !== null) await unspend(tx, [{ budgetId, amountMicro, spentAt: createdAt }]);
    };
    const amountMicro = await bookRefund(ctx, tx, arrived, { accountId, payerLedgerId, mostMicro }, note);
    if (amountMicro === 0n || !isOver) return;
    const address = payerAddressOf(payerLedgerId);
    if (address !== null)
      await owePayer(ctx, tx, {
        ...{ requestId, accountId, address, amountMicro },
        ledgerAccountId: payerLedgerId,
        purpose: purpose === 'home_refund' ? 'return' : 'second_return',
      });
    failpoint('before-end-bill-commit');
  });
  failpoint('after-end-bill-commit');
}
