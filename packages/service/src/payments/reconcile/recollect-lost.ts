import { emit } from '../../events/outbox/outbox.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { forEachPage, listLost } from '../chain-outbox/chain-payment-list-store.ts';
import { relocatePayment, reverseChainPayment } from '../chain-outbox/chain-payment-store.ts';
import { FINAL_DEPTH, findFate, findPlace, isPlain } from '../chain-outbox/find-fate.ts';
import { holdRefused } from '../chain-outbox/hold-payout.ts';
import { paymentEventsOf } from '../chain-outbox/payment-events.ts';
import type { RefusalReason } from '../chain-outbox/refusal-reason.ts';
import { inAssetOf } from '../ledger/asset-account.ts';
import { LOSS, lockLedgerAccount, type NewTransfer, postTransfers, WALLET } from '../ledger/ledger-store.ts';
import { isUntouched } from '../payouts/refund-store.ts';
import { isOnItsWay, payAgain, type ReconcilePaymentContext } from './reconcile-payment.ts';

/** A plain transfer may be mined again without us; after this time it counts as gone. */
const GONE_AFTER_MS = 600_000;

/**
 * Handles settled payments that a reorg removed from their block: finds them in another block, collects them again, or reverses them when
 * they can never be collected.
 */
export const recollectLost = (ctx: ReconcilePaymentContext): Promise<void> =>
  forEachPage(
    (after, limit) => listLost(ctx.db, ctx.chain, ctx.clock.now(), after, limit),
    async (payments) => {
      for (const payment of payments)
        await recollect(ctx, payment).catch((error) =>
          ctx.log.warn({ err: error, paymentId: payment.id }, 'cannot check lost payment'),
        );
    },
  );

async function recollect(ctx: ReconcilePaymentContext, payment: ChainPayment): Promise<void> {
  const place = await findPlace(ctx, payment);
  if (place) return relocatePayment(ctx.db, payment.id, place);
  if (isPlain(payment)) return waitForPlain(ctx, payment);
  const head = await ctx.usdc.head();
  const isExpired = payment.authorization.validBeforeS <= head.timeS;
  if (payment.direction !== 'out' && (await isLostForGood(ctx, payment, head.number)))
    return reversePayment(ctx, payment, 'a reorg removed its block, and it can no longer be collected');
  if (await isOnItsWay(ctx, payment)) return;
  if (payment.direction === 'out' && isExpired) return payAgain(ctx, payment, head.timeS);
  const isSpent = await ctx.usdc.isSpent(payment.authorization, head.number);
  if (isSpent || isExpired) return;
  const refused = await ctx.simulator.simulate(payment);
  if (refused === null) void ctx.settler.settle(payment);
  else if (payment.direction === 'out') await holdRefused(ctx, payment, refused);
}

async function waitForPlain(ctx: ReconcilePaymentContext, payment: ChainPayment): Promise<void> {
  const lostMs = ctx.clock.now().getTime() - (payment.lostAt?.getTime() ?? 0);
  if (lostMs >= GONE_AFTER_MS)
    await reversePayment(ctx, payment, 'a reorg removed its block, and no other block has it');
}

/** True if the chain has shown, with sufficient depth, that the authorization was used otherwise, was cancelled, or expired unused. */
async function isLostForGood(ctx: ReconcilePaymentContext, payment: ChainPayment, head: bigint): Promise<boolean> {
  if (head < FINAL_DEPTH) return false;
  const isSpent = await ctx.usdc.isSpent(payment.authorization, head);
  if (isSpent) {
    const fate = await findFate(ctx, payment, payment.createdAt);
    return fate?.kind === 'taken back' && fate.place.blockNumber <= head - FINAL_DEPTH;
  }
  const finalS = await ctx.usdc.timeOfS(head - FINAL_DEPTH);
  return finalS !== null && payment.authorization.validBeforeS <= finalS;
}

const REASON: RefusalReason = 'invalid_exact_evm_transaction_failed';

/**
 * Reverses a payment that the chain removed for good: debits the credited account up to its available balance, and the node's loss account
 * for the spent or held rest. The ledger then matches the chain, and no customer's balance is negative. From the account of a paying wallet
 * it takes only the rest of this very payment, as other money there belongs to other requests. A deposit into a channel has no transfers:
 * the channel's balance follows the chain.
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
  const common = { credit: inAssetOf(ledgerAccountId, WALLET), kind: 'reversal' as const, subjectId };
  return [
    { ...common, id: `reversal:${id}`, debit: ledgerAccountId, amountMicro: takenMicro },
    { ...common, id: `loss:${id}`, debit: inAssetOf(ledgerAccountId, LOSS), amountMicro: valueMicro - takenMicro },
  ].filter(({ amountMicro }) => amountMicro > 0n);
}
