import { isListedNode } from '../../accounts/listed-node.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { payoutNonce } from '../../chain/keys/payment-nonces.ts';
import { chainOfAsset } from '../../chain/networks.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';
import type { ChainPayment, NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { findBySubject, insertChainPayments, nowhere } from '../chain-outbox/chain-payment-store.ts';
import { endPayments } from '../chain-outbox/end-payments.ts';
import { accountOfWallet } from '../deposits/suspense.ts';
import { assetOf, inAssetOf, type LedgerAsset } from '../ledger/asset-account.ts';
import { OUTGOING, postTransfers } from '../ledger/ledger-store.ts';
import { sendAfterCommit } from '../settlement/send-payouts.ts';
import { unsigned } from '../settlement/sign-payout.ts';
import { countRefundsSent } from './refund-store.ts';

export type RefundContext = Pick<NodeIdentity, 'chain'> & Pick<NodeKeys, 'wallet'> & Store & PaymentConditions;

/**
 * Records a refund to a wallet in the caller's transaction: the ledger transfer and the payment are stored together, so the refund is
 * committed with the failure. Idempotent: one refund per request and purpose. It is signed and sent right after the commit, and the reconciler
 * makes sure that it arrives. An amount not worth its gas is credited here, and one in an asset of a network that the node is not on any more. Where
 * the chain does not answer, it is signed and sent when the chain is back.
 * Returns the way of the refund.
 */
export async function owePayer(ctx: RefundContext, tx: Tx, refund: Refund): Promise<RefundWay> {
  const now = ctx.clock.now();
  const { purpose = 'refund' } = refund;
  const asset = assetOf(refund.ledgerAccountId);
  const chain = chainOfAsset(ctx, asset);
  const { chainId, token } = chain ?? removedNetwork(asset);
  const authorization = {
    from: ctx.wallet.address,
    to: refund.address,
    valueMicro: refund.amountMicro,
    validAfterS: 0n,
    validBeforeS: unsigned.validBeforeS,
    nonce: payoutNonce(chainId, purpose, refund.requestId),
  };
  const owed = {
    id: newId('pay'),
    chainId,
    token,
    direction: 'out' as const,
    purpose,
    subjectId: refund.requestId,
    accountId: refund.accountId,
    ledgerAccountId: inAssetOf(refund.ledgerAccountId, OUTGOING),
    authorization,
    fingerprint: null,
    x402Version: null,
  };
  const transferId = purpose === 'refund' ? `refund:${refund.requestId}` : `refund:${refund.requestId}:${purpose}`;
  if (chain === null || (await isCredited(ctx, tx, refund, now))) {
    await creditRefund(tx, { ...owed, signature: '0x' }, { ...refund, transferId }, now);
    return 'credited';
  }
  const payment: NewChainPayment = { ...owed, signature: unsigned.signature };
  const inserted = await insertChainPayments(tx, [payment], now);
  if (!inserted.has(payment.id)) return 'none';
  await postTransfers(
    tx,
    [
      {
        id: transferId,
        debit: refund.ledgerAccountId,
        credit: payment.ledgerAccountId,
        amountMicro: refund.amountMicro,
        kind: 'refund',
        subjectId: refund.requestId,
      },
    ],
    now,
  );
  sendAfterCommit(tx, payment.id);
  return 'on_chain';
}

/** Chain and token of an asset on a network that was removed from the settings. */
function removedNetwork(asset: LedgerAsset): { chainId: number; token: string } {
  const [, chainId = '', token = ''] = /^eip155:(\d+)\/erc20:(0x[0-9a-f]{40})$/.exec(asset ?? '') ?? [];
  invariant(token !== '', 'the default network is never removed');
  return { chainId: Number(chainId), token };
}

/** The refund of a request to the wallet that paid for it; null: none is owed. */
export const refundOf = (ctx: Store, requestId: string): Promise<ChainPayment | null> =>
  findBySubject(ctx.db, requestId, 'refund');

/**
 * True if a refund is credited here instead of sent: it is worth less than its gas, or the payer has reached the daily number of refunds on
 * chain. Refunds to other nodes are always sent, as they look for them on chain.
 */
async function isCredited(
  { paymentLimits }: PaymentConditions,
  tx: Tx,
  { amountMicro, accountId, address }: Refund,
  now: Date,
): Promise<boolean> {
  const { minRefundMicro, refundsPerDay } = paymentLimits;
  const since = new Date(now.getTime() - DAY_MS);
  const isDue =
    amountMicro < minRefundMicro || (await countRefundsSent(tx, { address, accountId, since })) >= refundsPerDay;
  return isDue && !(await isListedNode(tx, accountId, address));
}

/**
 * Credits a refund here, once, in the caller's transaction: to the treasury of the account that has proven the paying wallet, otherwise to
 * suspense, where its owner can claim it. `payment` has no signature, so it can never be submitted on chain.
 */
async function creditRefund(
  tx: Tx,
  payment: NewChainPayment,
  refund: Refund & { transferId: string },
  now: Date,
): Promise<void> {
  if (!(await insertChainPayments(tx, [payment], now)).has(payment.id)) return;
  const { address, requestId, amountMicro, ledgerAccountId, transferId } = refund;
  const asset = assetOf(ledgerAccountId);
  const credit = await accountOfWallet(tx, address, now, asset);
  await endPayments(tx, [payment], [{ id: payment.id, state: 'settled', reason: null, ...nowhere }], now);
  await postTransfers(
    tx,
    [{ id: transferId, debit: ledgerAccountId, credit, amountMicro, kind: 'refund', subjectId: requestId }],
    now,
  );
}

/** The way of a refund: release to the paying treasury or channel, transfer on chain to the paying wallet, or, below its gas cost, credit at this node. */
export type RefundWay = 'none' | 'treasury' | 'channel' | 'on_chain' | 'credited';

interface Refund {
  readonly requestId: string;
  readonly accountId: string;
  /** The payer's ledger account and wallet. */
  readonly ledgerAccountId: string;
  readonly address: string;
  readonly amountMicro: bigint;
  /** `refund` at the end of the request; the others are of a bill that was not collected or was refunded later, see `ChainPurpose`. */
  readonly purpose?: 'refund' | 'return' | 'second_return';
}
