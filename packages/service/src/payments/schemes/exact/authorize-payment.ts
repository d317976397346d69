import { KEYLESS } from '../../../accounts/keyless-caller.ts';
import { hasProven } from '../../../accounts/link-wallet.ts';
import type { ChainAccess } from '../../../chain/chain-access.ts';
import { isOwnWallet, type NodeIdentity } from '../../../chain/chain-info.ts';
import type { NodeKeys } from '../../../chain/keys/node-keys.ts';
import { GAS_OF_ONE, gasOfCall, gasToTake } from '../../../chain/settlement-call.ts';
import { isUsedBefore } from '../../../chain/usdc-client.ts';
import { AppError } from '../../../lib/app-error.ts';
import { newId } from '../../../lib/id.ts';
import type { Store } from '../../../store/database.ts';
import { isAwaited } from '../../chain-outbox/awaited-refund-store.ts';
import type { ChainContext } from '../../chain-outbox/chain-context.ts';
import type { ChainPayment, NewChainPayment } from '../../chain-outbox/chain-payment.ts';
import { findById } from '../../chain-outbox/chain-payment-store.ts';
import { findFate, SEARCH_FOR_REQUEST_MS } from '../../chain-outbox/find-fate.ts';
import type { RefusalReason } from '../../chain-outbox/refusal-reason.ts';
import { inAsset } from '../../ledger/asset-account.ts';
import { gasWithinLimit } from '../../settlement/contract-payers.ts';
import { reasonOfRevert, requireAboutPayer } from '../../settlement/payment-simulator.ts';
import { type PaymentTerms, paymentRequired } from '../../x402/payment-required.ts';
import type { PresentedPayment } from '../../x402/presented-payment.ts';
import { readOffer } from '../../x402/terms.ts';
import { originOf } from './bound-nonce.ts';
import { refusalOf, windowText } from './check-payment.ts';
import type { SignatureChecker } from './check-signature.ts';
import { isTransfer, type PresentedTransfer } from './exact-on-wire.ts';
import { awaitValidity, simulateInTime } from './in-time.ts';
import type { PaymentChecks } from './payment-checks.ts';
import { findKeyedPayments } from './purchase-key-store.ts';

/** A purchase, as needed to check its payment: the terms, and the caller. */
export interface PayablePurchase {
  readonly due: PaymentTerms;
  /** Hash of the exact purchase: account, target and body. The same payment for another purchase is refused. */
  readonly fingerprint: Buffer;
  /** Credited when the payment settles: the account's plain id. */
  readonly ledgerAccountId: (payer: string) => string;
  /** Network address of the client that shows the payment; null: unknown. */
  readonly client: string | null;
  /** Id derived from the request's Idempotency-Key: a further key of the purchase. */
  readonly keyedId: string | null;
  /** The account that holds the further keys, where the terms do not name it; null: none does yet. */
  readonly keyHolderId?: string | null;
}

export type AuthorizeContext = ChainContext & PaymentChecks & Pick<NodeKeys, 'secrets'>;

const NO_GAS = 'The node cannot settle payments now: its keys lack gas (ETH). Nothing was charged.';

type OfferContext = Store & Pick<NodeIdentity, 'chain'> & Pick<NodeKeys, 'secrets'>;

export function offerOf(ctx: OfferContext, shown: PresentedPayment, purchase: Pick<PayablePurchase, 'due'>) {
  const nowS = Math.floor(ctx.clock.now().getTime() / 1000);
  const offer = shown.accepted && readOffer(ctx.chain, ctx.secrets, shown.accepted, { ...purchase.due, nowS });
  return { nowS, offer };
}

/** True if the payment echoes an unexpired offer of this node for this purchase. */
export const answersOffer = (ctx: OfferContext, shown: PresentedPayment, due: PaymentTerms): boolean =>
  Boolean(offerOf(ctx, shown, { due }).offer);

/** The offer of this node for this purchase that the payment echoes, even if expired, to find an earlier purchase; null: none. */
export const echoedOffer = (
  { chain, secrets }: NodeIdentity & Pick<NodeKeys, 'secrets'>,
  { accepted }: PresentedPayment,
  due: PaymentTerms,
) => accepted && readOffer(chain, secrets, accepted, { ...due, nowS: 0 });

/** True if the payment echoes the very offer of this request, also after it has expired: only who was given the 402 answer has it. */
export const echoesOffer = (
  ctx: NodeIdentity & Pick<NodeKeys, 'secrets'>,
  shown: PresentedPayment,
  due: PaymentTerms,
  memo: string,
): boolean => echoedOffer(ctx, shown, due)?.memo === memo;

/**
 * True if the payment is signed by its wallet, acceptable at any price, and not collected yet: then only the wallet can have presented it.
 * The wallet need not cover it, as it may have spent the money on an earlier attempt. Throws UNAVAILABLE while the chain does not answer.
 */
export async function isFreshlySigned(ctx: AuthorizeContext, shown: PresentedTransfer): Promise<boolean> {
  const nowS = Math.floor(ctx.clock.now().getTime() / 1000);
  const { chainId, token } = ctx.chain;
  const { from, nonce, valueMicro } = shown.authorization;
  if (valueMicro < ctx.paymentLimits.minPaymentMicro) return false;
  if (refusalOf(ctx.chain, shown, { amountMicro: valueMicro, nowS })) return false;
  const purpose = 'invocation';
  if (await ctx.paymentFinder.find({ chainId, token, from, nonce, subjectId: null, purpose })) return false;
  const isFresh = async () => {
    if (!(await ctx.signatureChecker.isGood(shown))) return false;
    const revert = await ctx.simulator.simulate(shown);
    if (revert === null || /exceeds balance/i.test(revert)) return true;
    await requireAboutPayer(ctx, { ...shown, direction: 'in' }, revert);
    return false;
  };
  return isFresh().catch(throwUncheckable);
}

/** The chain could not be asked about a payment, unless the error is an answer already. */
function throwUncheckable(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  const message = 'The chain is unavailable, so the payment cannot be checked now. Nothing was charged.';
  throw new AppError('UNAVAILABLE', message, {}, { cause });
}

/**
 * The earlier payment of this same purchase, by its nonce, its offer or a key of the purchase; null when it is not claimed. Throws CONFLICT
 * when it paid for another purchase. Must run before every refusal, as the authorization may already be spent for this very purchase.
 * `isLate`: a claim was refused, so an offer that has expired since counts, too.
 */
export async function findPresentedBefore(
  ctx: Store & Pick<NodeKeys, 'secrets'> & NodeIdentity & PaymentChecks,
  shown: PresentedPayment,
  purchase: PayablePurchase,
  { isLate = false }: { readonly isLate?: boolean } = {},
): Promise<ChainPayment | null> {
  if (!isTransfer(shown)) return null;
  const offer = isLate ? echoedOffer(ctx, shown, purchase.due) : offerOf(ctx, shown, purchase).offer;
  return findKnown(ctx, shown, purchase, offer?.memo ?? (isLate ? purchase.keyedId : null));
}

/**
 * Checks an unclaimed payment, without writing. Throws PAYMENT_REQUIRED when there is none, or when it certainly does not move money.
 * Returns a payment to claim; if another request claims it first, `findPresentedBefore` finds that one.
 */
export async function authorizePayment(
  ctx: AuthorizeContext,
  shown: PresentedPayment | null,
  purchase: PayablePurchase,
): Promise<NewChainPayment> {
  // Calls are also paid by vouchers, which need no gas.
  if (!shown && purchase.due.purpose === 'deposit') await ctx.gas.requireGas(gasToTake(GAS_OF_ONE), NO_GAS);
  if (!shown) throw paymentRequired(ctx, purchase.due, null);
  if (!isTransfer(shown)) {
    ctx.metrics.channelRefusals.inc({ reason: 'unsupported_scheme' });
    throw paymentRequired(ctx, purchase.due, 'unsupported_scheme');
  }
  const { offer } = offerOf(ctx, shown, purchase);
  const amountMicro = offer?.amountMicro ?? purchase.due.amountMicro;
  const origin = originOf(ctx.chain, ctx.secrets, shown.authorization.nonce, { ...purchase.due, amountMicro });
  const isForOther = (shown.version === 2 && !offer) || origin === 'bound to another';
  const refusal = (await refusalInTime(ctx, shown, amountMicro)) ?? (isForOther ? 'invalid_offer' : null);
  if (refusal) throw refusedPayment(ctx, shown, purchase.due, refusal);
  const payment = toChainPayment(ctx, shown, purchase, offer?.memo ?? purchase.due.makeMemo());
  await ctx.gas.requireGas(gasToTake(gasOfCall([payment])), NO_GAS);

  // Asked at the same time: a caller waits for one round trip to the database, not for two.
  const isTaken = isSpokenFor(ctx, payment);
  isTaken.catch(() => undefined);
  await ctx.payerStatus.require(payment);
  const refused = await refusedByChain(ctx, shown, payment, { isBound: origin === 'bound', isTaken }).catch(
    throwUncheckable,
  );
  if (!refused) return payment;
  // The chain may refuse because a concurrent repetition of this request has just settled; that is not a refusal.
  if (await findKnown(ctx, shown, purchase, offer?.memo ?? null)) return payment;
  throw refusedPayment(ctx, shown, purchase.due, refused);
}

const nowSOf = ({ clock }: Store): number => Math.floor(clock.now().getTime() / 1000);

/** Refusal of the payment as it will be once valid, if that is within the caller's time. Waits only for signed payments. */
async function refusalInTime(
  ctx: AuthorizeContext,
  shown: PresentedTransfer,
  amountMicro: bigint,
): Promise<RefusalReason | null> {
  const refusal = refusalOf(ctx.chain, shown, { amountMicro, nowS: nowSOf(ctx) });
  if (refusal !== 'invalid_exact_evm_payload_authorization_valid_after') return refusal;
  if (!(await ctx.signatureChecker.mayBeGood(shown).catch(throwUncheckable))) return refusal;
  await awaitValidity(ctx, shown.authorization.validAfterS);
  return refusalOf(ctx.chain, shown, { amountMicro, nowS: nowSOf(ctx) });
}

const refusedPayment = (
  ctx: AuthorizeContext,
  { authorization }: PresentedTransfer,
  due: PaymentTerms,
  reason: RefusalReason,
) => paymentRequired(ctx, due, reason, { detail: windowText(reason, authorization, nowSOf(ctx)) });

/** Finds the claim of this payment, or, when the offer was paid twice, the first payment: the second is never collected. */
async function findKnown(
  ctx: Store & Pick<NodeIdentity, 'chain'> & PaymentChecks,
  shown: PresentedTransfer,
  purchase: PayablePurchase,
  memo: string | null,
): Promise<ChainPayment | null> {
  const { from, nonce } = shown.authorization;
  const { chainId, token } = ctx.chain;
  const known =
    (await ctx.paymentFinder.find({ chainId, token, from, nonce, subjectId: memo, purpose: purchase.due.purpose })) ??
    (await findByKeys(ctx, keyHolderOf(purchase), purchaseKeysOf(shown, purchase)));
  if (known) requireSamePurchase(known, purchase.fingerprint);
  return known;
}

/** Further keys of a purchase, so that a newly signed payment for it is not collected a second time (docs/design.md, section 5). */
export function purchaseKeysOf(shown: PresentedPayment, { due, keyedId }: PayablePurchase): string[] {
  const named = shown.identifier === null ? [] : [`${due.purpose} ${shown.identifier}`];
  return keyedId === null ? named : [...named, keyedId];
}

/** The account that holds the further keys of a purchase. */
export const keyHolderOf = ({ keyHolderId, due }: PayablePurchase): string | null =>
  keyHolderId === undefined ? due.accountId : keyHolderId;

async function findByKeys(ctx: Store, accountId: string | null, keys: readonly string[]): Promise<ChainPayment | null> {
  if (accountId === null || keys.length === 0) return null;
  const [first] = await findKeyedPayments(ctx.db, accountId, keys);
  return first ? findById(ctx.db, first.paymentId) : null;
}

function requireSamePurchase(known: ChainPayment, fingerprint: Buffer | null): void {
  if (!fingerprint || !known.fingerprint?.equals(fingerprint))
    throw new AppError('CONFLICT', 'This payment was used for another request. Sign a new one for this request.');
}

function toChainPayment(
  ctx: Pick<NodeIdentity, 'chain'>,
  shown: PresentedTransfer,
  purchase: PayablePurchase,
  subjectId: string,
): NewChainPayment {
  return {
    id: newId('pay'),
    chainId: ctx.chain.chainId,
    token: ctx.chain.token,
    direction: 'in',
    purpose: purchase.due.purpose,
    subjectId,
    accountId: purchase.due.accountId,
    ledgerAccountId: inAsset(purchase.ledgerAccountId(shown.authorization.from), ctx.chain.ledgerAsset),
    authorization: shown.authorization,
    signature: shown.signature,
    fingerprint: purchase.fingerprint,
    x402Version: shown.version,
    client: purchase.client,
    purchaseKeys: purchaseKeysOf(shown, purchase).filter((key) => key !== subjectId),
  };
}

async function refusedByChain(
  ctx: AuthorizeContext,
  shown: PresentedTransfer,
  payment: NewChainPayment,
  { isBound, isTaken: taking }: { readonly isBound: boolean; readonly isTaken: Promise<boolean> },
): Promise<RefusalReason | null> {
  if (!(await ctx.signatureChecker.mayBeGood(payment))) return ctx.signatureChecker.whyBad(payment, shown);
  const [revert, isTaken] = await Promise.all([simulateInTime(ctx, payment), taking]);
  if (isTaken) return 'invalid_exact_evm_nonce_already_used';
  if (revert === null) {
    const gas = await gasWithinLimit(ctx, payment);
    if (gas === null) return 'invalid_exact_evm_transaction_simulation_failed';
    await ctx.gas.requireGas(gasToTake(gas), NO_GAS);
    return null;
  }
  if (isUsedBefore(revert))
    return (await paysThoughSpent(ctx, payment, isBound)) ? null : 'invalid_exact_evm_nonce_already_used';
  await requireAboutPayer(ctx, payment, revert);
  if (/signature/i.test(revert)) return ctx.signatureChecker.whyBad(payment, shown);
  return reasonOfRevert(revert) ?? 'invalid_exact_evm_transaction_simulation_failed';
}

/**
 * True if a spent authorization pays for a purchase. The chain publishes it with its signature, so presenting it proves nothing. It counts
 * if the caller's account has proven the wallet, or if its nonce is bound to the purchase; the wallet must have signed exactly this
 * authorization, and the money must have come here. Otherwise the transfer is a deposit of the wallet
 * (docs/decisions/0015-other-ways-in.md). It never counts without an API key, as those terms are the same for everyone. Throws when the
 * chain does not answer in time.
 */
async function paysThoughSpent(
  ctx: Store & ChainAccess & { readonly signatureChecker: SignatureChecker },
  payment: NewChainPayment,
  isBound: boolean,
): Promise<boolean> {
  const { accountId, authorization } = payment;
  if (accountId === null || accountId === KEYLESS) return false;
  if (!(isBound || (await hasProven(ctx.db, accountId, authorization.from)))) return false;
  if (!(await ctx.signatureChecker.isGood(payment))) return false;
  return (await findFate(ctx, payment, ctx.clock.now(), SEARCH_FOR_REQUEST_MS))?.kind === 'paid';
}

/**
 * True if an authorization is reserved and can't be a payment, spent or not: the node's own (refunds, bills, withdrawals, transfers of a
 * former wallet, which the books have already), or another node's refund, which belongs to the payer of the request.
 */
const isSpokenFor = async (
  ctx: Store & Pick<NodeIdentity, 'chain'>,
  { authorization }: NewChainPayment,
): Promise<boolean> =>
  isOwnWallet(ctx.chain, authorization.from) || (await isAwaited(ctx.db, ctx.chain, authorization));
