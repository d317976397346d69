import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { HeldPayout } from '@agent-network/contracts/payments/held-payouts';
import type { AccountCaller } from '../../accounts/caller.ts';
import { hasProven } from '../../accounts/link-wallet.ts';
import type { ChainAccess } from '../../chain/chain-access.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { onToken, requireNetwork } from '../../chain/networks.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { lockPaymentStatus, nowhere } from '../chain-outbox/chain-payment-store.ts';
import { endPayments } from '../chain-outbox/end-payments.ts';
import { hasExpiredForGood } from '../chain-outbox/find-fate.ts';
import { dropSignature, findCredited, findHeld, listHeld } from '../chain-outbox/held-payout-store.ts';
import { toHeldPayout } from '../chain-outbox/hold-payout.ts';
import { accountOfWallet, suspenseAccountId } from '../deposits/suspense.ts';
import { assetOf, plainId } from '../ledger/asset-account.ts';
import { postTransfers } from '../ledger/ledger-store.ts';
import { returnWithdrawal } from './hold-withdrawal.ts';

const MAX_LISTED = 200;

const isOperator = (caller: AccountCaller): boolean => caller.scopes.includes('operator');

/** Payouts that the token refuses: those of the account and to its wallets, for an operator all. */
export async function listHeldPayouts(ctx: Store, caller: AccountCaller): Promise<HeldPayout[]> {
  const held = await listHeld(ctx.db, isOperator(caller) ? null : caller.accountId, MAX_LISTED);
  return held.map(toHeldPayout);
}

/**
 * Ends a held payout by crediting it here, in one transaction: a withdrawal to its treasury, a refund to the owner of its wallet. Repeating
 * it returns the same. Throws CONFLICT while the signed transfer can still be submitted, because it was sent before the token refused it.
 */
export async function creditHeldPayout(
  ctx: Store & NodeIdentity & ChainAccess,
  caller: AccountCaller,
  paymentId: string,
): Promise<DataOf<Api['creditHeldPayout']>> {
  const held = await findHeld(ctx.db, paymentId);
  if (held === null) return creditedBefore(ctx, caller, paymentId);
  const { payment } = held;
  await requireRight(ctx, caller, payment);
  const { authorization } = payment;
  const wasSent = payment.transactionHash !== null;
  if (wasSent && !(await hasExpiredForGood(requireNetwork(onToken(ctx, payment)), payment))) throw stillValid(payment);
  const treasuryId = await ctx.db.transaction(async (tx) => {
    const status = await lockPaymentStatus(tx, payment.id);
    // It may have been sent or signed again since it was read.
    if (status?.transactionHash !== payment.transactionHash || status.validBeforeS !== authorization.validBeforeS)
      throw notHeld();
    return credit(tx, payment, ctx.clock.now());
  });
  return toCredited(payment, treasuryId);
}

const toCredited = (
  { id: paymentId, authorization, transactionHash }: ChainPayment,
  treasuryId: string | null,
): DataOf<Api['creditHeldPayout']> => ({
  ...{ paymentId, amount: formatUsdc(authorization.valueMicro) },
  ...{ treasuryId, transactionHash },
});

/** The credit of an earlier call, for a caller that may have lost its answer. */
async function creditedBefore(ctx: Store, caller: AccountCaller, paymentId: string) {
  const found = await findCredited(ctx.db, paymentId);
  if (!found) throw notFound('held payout');
  await requireRight(ctx, caller, found.payment);
  const { payment, creditId } = found;
  return toCredited(payment, isSuspense(creditId, payment.authorization.to) ? null : creditId);
}

const isSuspense = (accountId: string, wallet: string): boolean => plainId(accountId) === suspenseAccountId(wallet);

const notHeld = () => new AppError('CONFLICT', 'The payout is not held any more. Read it again.');

const stillValid = ({ authorization }: ChainPayment) => {
  const until = new Date(Number(authorization.validBeforeS) * 1000).toISOString();
  return new AppError(
    'CONFLICT',
    `The signed transfer was sent, and anybody can submit it until ${until}. Credit the payout some blocks after that.`,
  );
};

/** The rightful holder ends a payout, or an operator, who can only credit it to that holder. */
async function requireRight(ctx: Store, caller: AccountCaller, payment: ChainPayment): Promise<void> {
  const { purpose, accountId, authorization } = payment;
  if (isOperator(caller)) return;
  const isOwn = accountId === caller.accountId;
  if (purpose === 'withdrawal' ? isOwn : await hasProven(ctx.db, caller.accountId, authorization.to)) return;
  if (!isOwn) throw notFound('held payout');
  throw new AppError(
    'CONFLICT',
    `The refund belongs to the wallet ${authorization.to}. Prove that wallet for this account first (POST /payments/claims).`,
  );
}

/** Credits an open payout that can no longer be sent, in the caller's transaction. Returns the treasury; null: suspense of the wallet. */
async function credit(tx: Tx, payment: ChainPayment, now: Date): Promise<string | null> {
  const { id, purpose, subjectId, authorization, ledgerAccountId } = payment;
  const end = { id, reason: null, ...nowhere };
  if (purpose === 'withdrawal') {
    const failed = { ...end, state: 'failed' as const, reason: 'invalid_exact_evm_transaction_failed' };
    if (!(await endPayments(tx, [payment], [failed], now)).has(id)) throw notHeld();
    await dropSignature(tx, id);
    await returnWithdrawal(tx, payment, now);
    return ledgerAccountId;
  }
  // The owner of the wallet is held before the payment ends.
  const target = await accountOfWallet(tx, authorization.to, now, assetOf(ledgerAccountId));
  await dropSignature(tx, id);
  if (!(await endPayments(tx, [payment], [{ ...end, state: 'settled' }], now)).has(id)) throw notHeld();
  const amountMicro = authorization.valueMicro;
  const transfer = {
    id: `credit:${id}`,
    debit: ledgerAccountId,
    credit: target,
    amountMicro,
    kind: 'refund' as const,
    subjectId,
  };
  await postTransfers(tx, [transfer], now);
  return isSuspense(target, authorization.to) ? null : target;
}
