import { emit } from '../../events/outbox/outbox.ts';
import { LOSS, lockLedgerAccount, type NewTransfer, postTransfers, WALLET } from '../ledger/ledger-store.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { ChainPayment } from '../onchain/chain-payment.ts';
import { reverseChainPayment } from '../onchain/chain-payment-store.ts';
import { paymentEventsOf } from '../onchain/payment-events.ts';
import type { RefusalReason } from '../onchain/refusal-reason.ts';
import { isUntouched } from '../payouts/refund-store.ts';

const REASON: RefusalReason = 'invalid_exact_evm_transaction_failed';

/**
 * Reverses a payment that the chain removed for good: debits the credited account up to its available balance, and the node's loss account
 * for what is spent or held. The ledger then matches the chain, and no customer's balance is negative. Of the account of a paying wallet it
 * takes only what this very payment has left there: the rest belongs to other requests. A deposit into a channel has no transfers: the
 * channel's balance follows the chain.
 */
export async function reversePayment(ctx: ChainContext, payment: ChainPayment, why: string): Promise<void> {
  const now = ctx.clock.now();
  const isReversed = await ctx.db.transaction(async (tx) => {
    const { id, ledgerAccountId } = payment;
    const row = await reverseChainPayment(tx, { id, ledgerAccountId, reason: REASON, now });
    if (!row) return false;
    await emit(tx, paymentEventsOf([{ payment, state: 'reversed', ...row }]), now);
    if (payment.direction !== 'in') return true;
    const account = await lockLedgerAccount(tx, ledgerAccountId);
    // Asked under the lock: a request that begins has its hold, and one that was refunded its refund.
    const isOwn = payment.purpose !== 'invocation' || (await isUntouched(tx, payment.subjectId));
    const availableMicro = account && isOwn ? account.postedMicro - account.heldMicro : 0n;
    await postTransfers(tx, reversalOf(payment, availableMicro), now);
    return true;
  });
  if (isReversed) ctx.log.error({ paymentId: payment.id, why }, 'payment reversed');
}

/** Transfers of a reversal. Both name the payment as their cause, so it is reversed once. */
export function reversalOf(payment: ChainPayment, availableMicro: bigint): NewTransfer[] {
  const { id, subjectId, ledgerAccountId } = payment;
  const { valueMicro } = payment.authorization;
  const takenMicro = availableMicro < valueMicro ? availableMicro : valueMicro;
  const common = { credit: WALLET, kind: 'reversal' as const, subjectId };
  return [
    { ...common, id: `reversal:${id}`, debit: ledgerAccountId, amountMicro: takenMicro },
    { ...common, id: `loss:${id}`, debit: LOSS, amountMicro: valueMicro - takenMicro },
  ].filter(({ amountMicro }) => amountMicro > 0n);
}
