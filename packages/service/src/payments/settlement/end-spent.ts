import { depthFor, isBuried } from '../../chain/blocks/confirmation-depth.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { LockMode } from '../../store/lock-free.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { findFailures, nowhere } from '../chain-outbox/chain-payment-store.ts';
import { failPayment, settlePayment } from '../chain-outbox/end-payments.ts';
import { findFate } from '../chain-outbox/find-fate.ts';
import type { SettleOutcome } from './record-mined.ts';

/** RPC nodes behind one address differ by seconds; where logs are missing for longer, they are missing for good. */
const LOGGED_WITHIN_MS = 3_600_000;

/**
 * Ends a payment with a spent authorization, according to the chain's logs. Null while the logs do not show its use, or its block is not as
 * deep as the amount requires. With `locks` `skip`, throws HeldUpError when its account is locked.
 */
export async function endSpent(
  ctx: ChainContext,
  payment: NewChainPayment & { readonly createdAt: Date; readonly transactionHash: string | null },
  locks: LockMode = 'wait',
): Promise<SettleOutcome | null> {
  const fate = await findFate(ctx, payment, payment.createdAt);
  const isLogAwaited = fate === null && ctx.clock.now().getTime() - payment.createdAt.getTime() < LOGGED_WITHIN_MS;
  // The node never cancels its own authorizations: a spent one was paid, however long ago. Without its block, no reorg would be noticed.
  if (payment.direction === 'out' && fate?.kind !== 'paid' && !isLogAwaited)
    return settle(ctx, payment, { ...nowhere, transactionHash: payment.transactionHash }, locks);
  if (fate === null) {
    ctx.log.error({ paymentId: payment.id }, 'authorization is spent but no log shows its use');
    return null;
  }
  const depth = depthFor(ctx.confirmations, payment.authorization.valueMicro);
  if (!(await isBuried(ctx.usdc, fate.place, depth))) return null;
  if (fate.kind === 'paid') return settle(ctx, payment, fate.place, locks);
  const reason = 'invalid_exact_evm_nonce_already_used';
  await failPayment(ctx, payment, reason);
  return { state: 'failed', reason };
}

async function settle(
  ctx: ChainContext,
  payment: NewChainPayment,
  place: Parameters<typeof settlePayment>[2],
  locks: LockMode,
): Promise<SettleOutcome> {
  const isSettled = await ctx.db.transaction(async (tx) => {
    const hasSettled = await settlePayment(tx, payment, place, ctx.clock.now(), { purchases: ctx.purchases, locks });
    failpoint('before-reconcile-commit');
    return hasSettled;
  });
  failpoint('after-reconcile-commit');
  const reason = isSettled ? undefined : (await findFailures(ctx.db, [payment.id])).get(payment.id);
  if (reason) return { state: 'failed', reason };
  return place.transactionHash
    ? { state: 'settled', transactionHash: place.transactionHash }
    : { state: 'unknown', transactionHash: null };
}
