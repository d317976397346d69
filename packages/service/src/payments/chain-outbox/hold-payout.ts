import { formatUsdc } from '@agent-network/contracts/money';
import type { HeldPayout } from '@agent-network/contracts/payments/held-payouts';
import { isUsedBefore } from '../../chain/usdc-client.ts';
import { emit } from '../../events/outbox/outbox.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { PaymentConditions } from './chain-context.ts';
import type { ChainPayment } from './chain-payment.ts';
import { type HeldPayment, upsertHold } from './held-payout-store.ts';

/** Pauses between tries of a held payout. A refusal of the node's own wallet concerns all payouts, and may end for all at any time. */
const FIRST_PAUSE_S = 5;
const MAX_PAUSE_S = 3600;
const MAX_PAUSE_OF_NODE_S = 60;

/** True if a revert is not the token's refusal: the payout was paid already, or the node's wallet lacks the amount. */
const isNoRefusal = (revert: string): boolean => isUsedBefore(revert) || /exceeds balance/i.test(revert);

/**
 * Holds a payout that the token refuses: retries it with growing pauses, and notifies its owner and the operator. A payout that was already
 * paid, or that exceeds the wallet's balance, is not held: every run retries it.
 */
export async function holdRefused(
  ctx: Store & Telemetry & PaymentConditions,
  payment: ChainPayment,
  revert: string,
): Promise<void> {
  if (isNoRefusal(revert)) {
    ctx.log.error({ paymentId: payment.id, refused: revert }, 'token refuses an outgoing payment of the node');
    return;
  }
  const isOfNode = (await ctx.settlementHalt.causeOf(payment)) !== null;
  const now = ctx.clock.now();
  const maxS = isOfNode ? MAX_PAUSE_OF_NODE_S : MAX_PAUSE_S;
  const hold = await ctx.db.transaction(async (tx) => {
    const held = await upsertHold(tx, payment.id, { reason: revert, now, pauseS: FIRST_PAUSE_S, maxS });
    const { accountId } = payment;
    if (held.tries === 1 && accountId !== null) {
      const data = toHeldPayout({ payment, hold: held });
      await emit(tx, [{ type: 'payment.held', accountId, subjectId: payment.id, data }], now);
    }
    return held;
  });
  if (hold.tries === 1)
    ctx.log.error(
      { paymentId: payment.id, to: payment.authorization.to, reason: revert, remedy: 'docs/alerts.md#heldpayouts' },
      'token refuses a payout: held',
    );
}

export function toHeldPayout({ payment, hold }: HeldPayment): HeldPayout {
  const { id, purpose, subjectId, authorization, transactionHash } = payment;
  const isWithdrawal = purpose === 'withdrawal';
  return {
    paymentId: id,
    type: isWithdrawal ? 'withdrawal' : 'refund',
    amount: formatUsdc(authorization.valueMicro),
    to: authorization.to,
    requestId: isWithdrawal ? null : subjectId,
    withdrawalId: isWithdrawal ? subjectId : null,
    reason: hold.reason,
    heldSince: hold.heldAt.toISOString(),
    tries: hold.tries,
    nextTryAt: hold.nextTryAt.toISOString(),
    creditableFrom: transactionHash === null ? null : new Date(Number(authorization.validBeforeS) * 1000).toISOString(),
  };
}
