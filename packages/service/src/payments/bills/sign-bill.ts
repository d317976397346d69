import type { NodeIdentity } from '../../chain/chain-info.ts';
import { authorizationDigest } from '../../chain/keys/authorization.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { payoutNonce } from '../../chain/keys/payment-nonces.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { insertChainPayments } from '../chain-outbox/chain-payment-store.ts';
import { inAssetOf } from '../ledger/asset-account.ts';
import { endHolds } from '../ledger/hold-money.ts';
import { OUTGOING } from '../ledger/ledger-store.ts';
import type { Payer } from '../ledger/scheme-id.ts';
import { payingChannel } from '../schemes/batch-settlement/channel.ts';
import { payOutOfChannel } from '../schemes/batch-settlement/earning-store.ts';
import type { AgentTerms } from '../x402/agent-terms.ts';
import { type PaymentProof, paymentProof } from '../x402/payment-proof.ts';
import { findPaymentProof, insertAgentBill } from './agent-bill-store.ts';

/** Maximum time that money stays reserved for an uncollected bill. */
const MAX_WINDOW_S = 300;
/** An agent may collect after its work is done, so a bill's validity exceeds the deadline by this margin. */
const COLLECT_MARGIN_S = 60;

export interface Bill extends Payer {
  readonly requestId: string;
  readonly accountId: string;
  readonly payerLedgerId: string;
  readonly deadline: Date;
  readonly terms: AgentTerms;
}

/**
 * Books an agent's signed bill in the caller's transaction, once per request. Null, with nothing written: a channel pays it, and claims do
 * not cover it. The hold of the request ends: the bill is owed on chain from now on, and the rest is released, as nothing else can be
 * charged. The agent submits the payment, so only the chain shows if it was collected.
 */
export async function bookBill(ctx: Store, tx: Tx, bill: Bill, payment: NewChainPayment): Promise<PaymentProof | null> {
  const now = ctx.clock.now();
  const { requestId, terms } = bill;
  const channelId = payingChannel(bill);
  if (channelId !== null && !(await payOutOfChannel(tx, { channelId, requestId, billMicro: terms.amountMicro })))
    return null;
  const inserted = await insertChainPayments(tx, [payment], now);
  invariant(inserted.has(payment.id), 'a request has one bill');
  const proof = paymentProof(terms, payment.authorization, payment.signature);
  const bills = { requestId, paymentId: payment.id, terms: JSON.stringify(terms.accepted), ...proof };
  await insertAgentBill(tx, bills, now);
  const creditId = inAssetOf(bill.payerLedgerId, OUTGOING);
  await endHolds(tx, [{ id: requestId, captureMicro: terms.amountMicro, creditId, feeMicro: 0n }], now);
  return proof;
}

/** The signed payment of a request's bill, as sent to the agent; null when there is none. */
export const proofOf = (ctx: Store, requestId: string): Promise<PaymentProof | null> =>
  findPaymentProof(ctx.db, requestId);

/** Signs an agent's bill before the transaction that books it. The signature leaves the process only after that transaction. */
export async function signBill(
  ctx: NodeIdentity & Pick<NodeKeys, 'wallet'> & Store,
  bill: Bill,
): Promise<NewChainPayment> {
  const { chain, wallet } = ctx;
  const { requestId, terms } = bill;
  const authorization = {
    from: wallet.address,
    to: terms.payTo,
    valueMicro: terms.amountMicro,
    validAfterS: 0n,
    validBeforeS: expiryOf(bill, ctx.clock.now()),
    nonce: payoutNonce(chain.chainId, 'bill', requestId),
  };
  return {
    id: newId('pay'),
    chainId: chain.chainId,
    token: chain.token,
    direction: 'out',
    purpose: 'bill',
    subjectId: requestId,
    accountId: bill.accountId,
    ledgerAccountId: bill.payerLedgerId,
    authorization,
    signature: await wallet.signHash(authorizationDigest(chain.domainSeparator, authorization)),
    fingerprint: null,
    x402Version: terms.version,
  };
}

function expiryOf({ terms, deadline }: Bill, now: Date): bigint {
  const nowS = Math.floor(now.getTime() / 1000);
  const leftS = Math.ceil(deadline.getTime() / 1000) - nowS + COLLECT_MARGIN_S;
  return BigInt(nowS + Math.min(terms.windowS, MAX_WINDOW_S, leftS));
}
