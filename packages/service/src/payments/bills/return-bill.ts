import { formatUsdc } from '@agent-network/contracts/money';
import type { Payment } from '@agent-network/contracts/payments/payments';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { emit } from '../../events/outbox/outbox.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { nowhere } from '../chain-outbox/chain-payment-store.ts';
import { endPayments } from '../chain-outbox/end-payments.ts';
import { inAssetOf } from '../ledger/asset-account.ts';
import { OUTGOING, postTransfers } from '../ledger/ledger-store.ts';
import { agentTreasuryId, openAgentTreasury, returnWalletOf } from '../ledger/treasury.ts';
import { owePayer } from '../payouts/refund-payer.ts';

type ReturnContext = Pick<NodeIdentity, 'chain'> & Pick<NodeKeys, 'wallet'> & Store & PaymentConditions;

/** Ends a bill that can no longer be collected; false when it had ended before. */
async function endUnused(tx: Tx, bill: ChainPayment, now: Date): Promise<boolean> {
  const reason = 'invalid_exact_evm_payload_authorization_valid_before';
  const end = { id: bill.id, state: 'failed' as const, reason, ...nowhere };
  return (await endPayments(tx, [bill], [end], now)).has(bill.id);
}

/**
 * Books an uncollected bill as the agent's earning, because it did the work, in the caller's transaction. False when the bill had ended
 * before.
 */
export async function earnUncollected(
  ctx: Store,
  tx: Tx,
  bill: ChainPayment,
  agent: { id: string; accountId: string },
): Promise<boolean> {
  const now = ctx.clock.now();
  if (!(await endUnused(tx, bill, now))) return false;
  const { subjectId, authorization, ledgerAccountId } = bill;
  // A remote agent has no treasury before its first earning here.
  await openAgentTreasury(tx, agent, now);
  const transfer = {
    id: `charge:${subjectId}`,
    debit: inAssetOf(ledgerAccountId, OUTGOING),
    credit: inAssetOf(ledgerAccountId, agentTreasuryId(agent.id)),
    amountMicro: authorization.valueMicro,
    kind: 'charge' as const,
    subjectId,
  };
  await postTransfers(tx, [transfer], now);
  return true;
}

/**
 * Returns an uncollected bill to the payer, because the agent did not do the work, in the caller's transaction; a paying wallet is refunded
 * on chain. Returns false when the bill had already ended. `beforeLedger` records rows that must be locked before the ledger.
 */
export async function returnUncollected(
  ctx: ReturnContext,
  tx: Tx,
  bill: ChainPayment,
  beforeLedger: () => Promise<void>,
): Promise<boolean> {
  const now = ctx.clock.now();
  if (!(await endUnused(tx, bill, now))) return false;
  await beforeLedger();
  const { subjectId, accountId, ledgerAccountId, authorization } = bill;
  const amountMicro = authorization.valueMicro;
  const id = `bill_return:${subjectId}`;
  await postTransfers(
    tx,
    [
      {
        id,
        debit: inAssetOf(ledgerAccountId, OUTGOING),
        credit: ledgerAccountId,
        amountMicro,
        kind: 'bill_return',
        subjectId,
      },
    ],
    now,
  );
  const address = await returnWalletOf(tx, ledgerAccountId);
  if (accountId === null) return true;
  if (address === null) {
    await emit(tx, [{ type: 'payment.refunded', accountId, subjectId: bill.id, data: toRefund(bill) }], now);
    return true;
  }
  await owePayer(ctx, tx, {
    requestId: subjectId,
    accountId,
    ledgerAccountId,
    address,
    amountMicro,
    purpose: 'return',
  });
  return true;
}

/** A return to a treasury counts as received when it is booked; a refund on chain is reported once it has arrived. */
const toRefund = ({ id, subjectId, authorization, createdAt }: ChainPayment): Payment => ({
  paymentId: id,
  type: 'refund',
  amount: formatUsdc(authorization.valueMicro),
  status: 'confirmed',
  requestId: subjectId,
  transactionHash: null,
  createdAt: createdAt.toISOString(),
});
