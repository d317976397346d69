import { maxOf, minOf } from '../../lib/bigints.ts';
import { newId } from '../../lib/id.ts';
import type { Tx } from '../../store/sql.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { insertChainPayments } from '../chain-outbox/chain-payment-store.ts';
import { settlePayment } from '../chain-outbox/end-payments.ts';
import { assetOf, inAssetOf, plainId } from '../ledger/asset-account.ts';
import { FEES, LOSS, lockFees, lockLedgerAccount, OUTGOING, postTransfers } from '../ledger/ledger-store.ts';
import { unheldFees } from '../ledger/take-fees.ts';
import { type FoundPayout, lockFoundPayout, writeFoundPayout } from './found-payout-store.ts';

/**
 * Books a payout as paid from an account, up to its balance; the rest is the node's loss until the account has it. In the caller's
 * transaction, which has locked the payout.
 */
export async function charge(tx: Tx, payout: FoundPayout, source: string, now: Date): Promise<void> {
  const account = await lockAccount(tx, source);
  const payment = toPayment(payout, { source, accountId: account.accountId });
  const { valueMicro } = payout;
  if (!(await insertChainPayments(tx, [payment], now)).has(payment.id)) {
    await writeFoundPayout(tx, { ...payout, state: 'explained' }, now);
    return;
  }
  // What is available is below nothing after a reversal, and of fees, while losses are larger.
  const taken = maxOf(0n, minOf(account.availableMicro, valueMicro));
  const subjectId = payment.subjectId;
  const loss = inAssetOf(source, LOSS);
  const common = { credit: inAssetOf(source, OUTGOING), kind: 'withdrawal' as const, subjectId };
  const transfers = [
    { ...common, id: `withdrawal:${subjectId}`, debit: source, amountMicro: source === loss ? 0n : taken },
    { ...common, id: `loss:${subjectId}`, debit: loss, amountMicro: source === loss ? valueMicro : valueMicro - taken },
  ];
  await postTransfers(
    tx,
    transfers.filter(({ amountMicro }) => amountMicro > 0n),
    now,
  );
  const { transactionHash, blockNumber, blockHash } = payout;
  await settlePayment(tx, payment, { transactionHash, blockNumber, blockHash }, now);
  const dueMicro = source === loss ? 0n : valueMicro - taken;
  const state = dueMicro > 0n ? 'due' : payout.decidedBy === null ? 'booked' : 'decided';
  await writeFoundPayout(tx, { ...payout, state, source, dueMicro, paymentId: payment.id }, now);
}

async function lockAccount(tx: Tx, source: string): Promise<{ availableMicro: bigint; accountId: string | null }> {
  if (plainId(source) === LOSS) return { availableMicro: 0n, accountId: null };
  if (plainId(source) === FEES) {
    const asset = assetOf(source);
    await lockFees(tx, asset);
    return { availableMicro: await unheldFees(tx, asset), accountId: null };
  }
  const account = await lockLedgerAccount(tx, source);
  const availableMicro = account ? account.postedMicro - account.heldMicro : 0n;
  return { availableMicro, accountId: account?.accountId ?? null };
}

/** Collects the rest of a payout that its account could not cover, as soon as the account has money. */
export async function collect(tx: Tx, id: string, now: Date): Promise<void> {
  const payout = await lockFoundPayout(tx, id, ['due']);
  if (!payout?.source) return;
  const { availableMicro } = await lockAccount(tx, payout.source);
  const amountMicro = availableMicro < payout.dueMicro ? availableMicro : payout.dueMicro;
  if (amountMicro <= 0n) return;
  const subjectId = payout.id;
  const transferId = `collected:${payout.id}:${payout.dueMicro}`;
  const transfer = {
    id: transferId,
    debit: payout.source,
    credit: inAssetOf(payout.source, LOSS),
    amountMicro,
    kind: 'withdrawal' as const,
    subjectId,
  };
  await postTransfers(tx, [transfer], now);
  const dueMicro = payout.dueMicro - amountMicro;
  await writeFoundPayout(tx, { ...payout, dueMicro, state: dueMicro === 0n ? 'booked' : 'due' }, now);
}

/** The payment that a payout is in the books from now on. Its signature is lost; the transfer has happened. */
function toPayment(
  payout: FoundPayout,
  { source, accountId }: { source: string; accountId: string | null },
): NewChainPayment {
  const { chainId, token, from, to, valueMicro, nonce } = payout;
  return {
    id: newId('pay'),
    chainId,
    token,
    direction: 'out',
    purpose: 'withdrawal',
    subjectId: newId('wdr'),
    accountId,
    ledgerAccountId: source,
    authorization: { from, to, valueMicro, validAfterS: 0n, validBeforeS: 0n, nonce },
    signature: '0x',
    fingerprint: null,
    x402Version: null,
  };
}
