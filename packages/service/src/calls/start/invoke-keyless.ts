import { createHash } from 'node:crypto';
import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { AccountCaller } from '../../accounts/caller.ts';
import { idFromCode } from '../../accounts/idempotency/idempotency.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import { KEYLESS, keylessCaller } from '../../accounts/keyless-caller.ts';
import { openPayerAccount, type PayerAccount, payerAccountOf, visitorAddresses } from '../../accounts/payer-account.ts';
import { suspended } from '../../accounts/suspension.ts';
import { requireAgent } from '../../agents/search/find-agent.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import type { Mutex } from '../../lib/concurrency/mutex.ts';
import { networkOf, siteOf } from '../../lib/net/address-ranges.ts';
import { echoesOffer } from '../../payments/schemes/exact/authorize-payment.ts';
import type { SchemeContext } from '../../payments/schemes/scheme.ts';
import { schemeOfPresented } from '../../payments/schemes/schemes.ts';
import { type PaymentRequiredError, paymentRequired } from '../../payments/x402/payment-required.ts';
import { onPresented, type PresentedPayment } from '../../payments/x402/presented-payment.ts';
import type { Store } from '../../store/database.ts';
import type { CallServices } from '../call-services.ts';
import { wasGivenBack } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import { TWIN_WINDOW_MS } from '../read/find-twin.ts';
import { isResultToken } from '../read-invocation.ts';
import { requireRoomToPay } from '../run/run-queued.ts';
import { requireStorage } from '../storage.ts';
import { type KeylessPayer, purchaseOf, type WantedCall } from './invocation-purchase.ts';
import { invokeAgent } from './invoke-agent.ts';
import { type InvokeContext, type Invoked, type InvokeInput, replayRequest } from './invoke-input.ts';

export type KeylessContext = InvokeContext & { readonly paymentTurns: Mutex };

export interface KeylessInput
  extends Omit<InvokeInput, 'quoteId' | 'forced' | 'via' | 'once' | 'keyless'>,
    ShownProof,
    Visitor {
  readonly idempotencyKey: string | null;
  readonly count: CountPayer;
  /** The call that this one says it repeats; undefined: none. */
  readonly repeats?: Repeated | undefined;
}

/** A call with an answer that did not reach its client, which repeats the call with a new payment. */
export interface Repeated {
  /** null: not known by its id. */
  readonly requestId: string | null;
  /** True if it may be the wallet's last one like it as well. */
  readonly orLast: boolean;
  /** Purchases from before are not it; null: any of the last ten minutes. */
  readonly since: Date | null;
}

export interface KeylessInvoked extends Invoked {
  /**
   * True when the caller may be a stranger: the payment of this request was presented again, and anyone can read it on chain. The result is
   * only for callers that prove they made the call.
   */
  readonly isWithheld: boolean;
}

/** Time for which a wallet that signs in, without a payment, gets its last purchase of the same call. */
const BOUGHT_WITHIN_MS = 3_600_000;

/**
 * Starts an invocation for a caller without an API key, or finds the one that the shown payment was for. It is paid by x402 only, never
 * from a treasury, and belongs to the account of the paying wallet; a free call to one that visitors share. A wallet that signs in without
 * a payment gets its last purchase of the same call within an hour, as clients of `sign-in-with-x` expect; one that repeats a call with
 * another payment or voucher gets the one it repeats.
 */
export async function invokeKeyless(anyCtx: KeylessContext, input: KeylessInput): Promise<KeylessInvoked> {
  const { shown, idempotencyKey } = input;
  const ctx = onPresented(anyCtx, shown);
  if (!shown && idempotencyKey === null) return invokeInTurn(ctx, input);
  // Repetitions that come together find the first one's request, and do not count as calls of the wallet.
  return ctx.paymentTurns.run(shown ? turnOf(shown) : `${nameOfKey(idempotencyKey ?? '')} ${input.client}`, () =>
    invokeInTurn(ctx, input),
  );
}

const turnOf = (shown: PresentedPayment): string => schemeOfPresented(shown).onWire?.turnKey(shown) ?? shown.payer;

async function invokeInTurn(ctx: InvokeContext, input: KeylessInput): Promise<KeylessInvoked> {
  const { shown, signedIn, idempotencyKey } = input;
  const wallet = shown ? shown.payer : signedIn;
  const account = wallet === null ? null : await payerAccountOf(ctx, wallet);
  // A deposit is taken after its payer was admitted: the call that it pays is not admitted anew.
  let admitted: Promise<AccountCaller> | null = null;
  const keyless: KeylessPayer = {
    accountId: account?.accountId ?? null,
    key: idempotencyKey === null ? null : nameOfKey(idempotencyKey),
    admit(payer) {
      admitted ??= admitPayer(ctx, payer, input.count);
      return admitted;
    },
    admitVisitor: () => admitVisitor(ctx, input, input.body),
  };
  const caller = keylessCaller(wallet);
  const wanted = { ...input, quoteId: null, requestId: null, keyless };
  const bought = await findBoughtBefore(ctx, input, wanted);
  if (bought) return { ...bought, isWithheld: false };
  const once = shown === null && signedIn === null ? onceForVisitor(ctx, input, input) : unkeyed;
  const invoked = await invokeAgent(ctx, caller, { ...wanted, forced: 'x402', via: null, once });
  // A repeated call is found by the visitor's own key.
  if (!invoked.isReplay || once !== unkeyed) return { ...invoked, isWithheld: false };
  const { requestedAgentId, agentId } = invoked.invocation;
  const price = { amountMicro: 0n, alternativeId: requestedAgentId && agentId };
  const { due } = purchaseOf(ctx, caller, wanted, price);
  return { ...invoked, isWithheld: !(await hasMadeCall(ctx, input, { ...invoked, due })) };
}

/** A name of fixed length for any key of the caller. */
const nameOfKey = (key: string): string => `${KEYLESS} ${createHash('sha256').update(key).digest('base64url')}`;

/**
 * An earlier purchase of the wallet, by any scheme, to answer a repeated call. The payment or voucher of the repetition is not collected
 * then; it proves that the wallet itself asks.
 */
async function findBoughtBefore(
  ctx: InvokeContext,
  { shown, signedIn, repeats }: KeylessInput,
  wanted: WantedCall,
): Promise<Invoked | null> {
  if (shown === null)
    return signedIn === null ? null : findBought(ctx, signedIn, wanted, { withinMs: BOUGHT_WITHIN_MS });
  if (!repeats) return null;
  // The search costs more than a look at a voucher, and less than the question to the chain whether a transfer is unspent.
  const isChecked = schemeOfPresented(shown).fundedAt === 'after_end';
  if (isChecked && !(await isRepetitionOfWallet(ctx, shown))) return null;
  const within = { withinMs: TWIN_WINDOW_MS };
  const wallet = shown.payer;
  const { requestId, orLast, since } = repeats;
  const named = requestId === null ? null : await findBought(ctx, wallet, wanted, { ...within, requestId });
  const bought = named ?? (orLast ? await findBought(ctx, wallet, wanted, { ...within, since }) : null);
  return bought && (isChecked || (await isRepetitionOfWallet(ctx, shown))) ? bought : null;
}

async function findBought(
  ctx: InvokeContext,
  wallet: string,
  wanted: WantedCall,
  { requestId = null, since = null, withinMs }: Omit<Partial<Repeated>, 'orLast'> & { readonly withinMs: number },
): Promise<Invoked | null> {
  const { due, fingerprint } = purchaseOf(ctx, keylessCaller(wallet), wanted, { amountMicro: 0n, alternativeId: null });
  const accountId = wanted.keyless?.accountId;
  if (!accountId) return null;
  const after = new Date(Math.max(ctx.clock.now().getTime() - withinMs, since?.getTime() ?? 0));
  const id = requestId ?? (await ctx.channels.findLast({ accountId, fingerprint, after }));
  const purchase = id === null ? null : await ctx.channels.findPurchase(id);
  if (!purchase?.fingerprint?.equals(fingerprint)) return null;
  const invocation = await findInvocation(ctx.db, purchase.requestId);
  // It is bought anew.
  if (!invocation || wasGivenBack(invocation)) return null;
  return replayRequest(ctx, invocation, { ...due, amountMicro: invocation.priceMicro });
}

/** Means by which a caller without an API key can prove that it made a call. */
interface ShownProof {
  readonly shown: PresentedPayment | null;
  /** True when the node itself put the offer around the payment: it shows nothing then. */
  readonly isOfferLent?: boolean | undefined;
  readonly resultToken: string | null;
  /** The wallet that has signed in with this call (`sign-in-with-x`); lower case. */
  readonly signedIn: string | null;
}

/**
 * True if a caller who presents the payment of a request again has made that request. A settled authorization and its signature are public
 * on chain, and a body may be guessed, so neither counts. Proofs are known to the payer and this node alone: the offer that the payment
 * answers (x402 version 2 echoes it), the request's token, the wallet's sign-in, another valid payment of the wallet, which is not public
 * while unspent, or a valid voucher, which is not before it is claimed.
 */
async function hasMadeCall(
  ctx: SchemeContext,
  { shown, isOfferLent, resultToken, signedIn }: ShownProof,
  { invocation, due }: Pick<Invoked, 'invocation' | 'due'>,
): Promise<boolean> {
  if (resultToken !== null && isResultToken(ctx, invocation.id, resultToken)) return true;
  if (!shown) return false;
  // The request is this wallet's: its fingerprint has the wallet.
  if (signedIn === shown.payer) return true;
  return (!isOfferLent && echoesOffer(ctx, shown, due, invocation.id)) || isOfWallet(ctx, shown);
}

/**
 * True if only its wallet can have presented a payment: a valid one that is not collected, at any price, as the price may have changed, or
 * a valid voucher in no claim. All others are public on chain.
 */
const isOfWallet = async (ctx: SchemeContext, shown: PresentedPayment): Promise<boolean> =>
  (await schemeOfPresented(shown).isPrivate?.(ctx, shown)) ?? false;

/**
 * True if a repetition comes from its wallet. It gets the newest purchase of its wallet and body, so an old voucher, for example from a
 * proxy's log, must not be enough. A client that lost an answer signs at least the charged sum of the channel, or gets that sum (402) and
 * signs it.
 */
const isRepetitionOfWallet = async (ctx: SchemeContext, shown: PresentedPayment): Promise<boolean> =>
  (await isOfWallet(ctx, shown)) && ((await schemeOfPresented(shown).isNewest?.(ctx, shown)) ?? true);

/** Counts a wallet's call, and the opening of its account, against their limits. Throws RATE_LIMITED. */
type CountPayer = (wallet: string, opensAccount: boolean) => Promise<void>;

type AdmitContext = Store & CallServices;

/**
 * Admits the wallet of a valid payment, without an API key: as its account, opened if it has none. Throws FORBIDDEN for a suspended
 * account, RATE_LIMITED and STORAGE_LIMIT_EXCEEDED, before any charge.
 */
async function admitPayer(ctx: AdmitContext, wallet: string, count: CountPayer): Promise<AccountCaller> {
  const known = await payerAccountOf(ctx, wallet);
  if (known?.isSuspended) throw suspended();
  if (known) {
    const caller = callerOf(wallet, known);
    await requireStorage(ctx, caller);
    requireRoomToPay(ctx, caller);
  }
  await count(wallet, known === null);
  return callerOf(wallet, known ?? (await openPayerAccount(ctx, wallet, ctx.clock.now())));
}

const callerOf = (wallet: string, account: PayerAccount): AccountCaller => ({ ...keylessCaller(wallet), ...account });

/** A call with the lowest price: nothing in its body raises it. */
const plain = InvocationRequest.parse({ task: 'Any' });

const nobody: KeylessPayer = {
  accountId: null,
  key: null,
  admit: () => Promise.reject(new Error('a plain call has no payer')),
  admitVisitor: () => Promise.reject(new Error('a plain call has no visitor')),
};

/**
 * Terms of an agent for a call without a key and with an unknown body; null: wallets can't pay for it. A payment by them is accepted only
 * for a body that costs no more.
 */
export async function plainTerms(
  ctx: InvokeContext,
  { agentId, client, asksForChannels }: { agentId: string; client: string | null; asksForChannels: boolean },
): Promise<PaymentRequiredError | null> {
  const { perRequestMicro: amountMicro, status } = await requireAgent(ctx, agentId);
  if (status !== 'online' || amountMicro === 0n || amountMicro < ctx.paymentLimits.minPaymentMicro) return null;
  const wanted = { agentId, quoteId: null, body: plain, requestId: null, client, keyless: nobody, asksForChannels };
  const { due } = purchaseOf(ctx, keylessCaller(null), wanted, { amountMicro, alternativeId: null });
  return paymentRequired(ctx, due, null);
}

/** A caller without an API key or payment: only the network address distinguishes visitors. */
interface Visitor {
  readonly client: string | null;
  /** True when a browser makes the call for a page of another site. */
  readonly isFromOtherSite: boolean;
}

type VisitorContext = Store & Pick<NodeKeys, 'secrets'>;

/** Maximum bytes of JSON in a visitor's call, as it is stored for an unknown caller. */
const MOST_BYTES = 16 * 1024;

/** The network of a visitor, by which keys and limits are kept apart. */
export const networkOfVisitor = ({ client }: Pick<Visitor, 'client'>): string =>
  client === null ? '' : (networkOf(client) ?? client);

/** One account for all networks of a site, so that it can't fill the accounts of others. The choice depends on a secret of this node. */
function addressOfAccount({ secrets }: Pick<NodeKeys, 'secrets'>, { client }: Visitor): string {
  const code = secrets.authenticate('visitor', [client === null ? '' : (siteOf(client) ?? client)]);
  return visitorAddresses[Buffer.from(code, 'base64url').readUInt32BE() % visitorAddresses.length] ?? '';
}

type VisitorBody = { readonly webhookUrl?: string | undefined };

/** Admits a visitor's free call. */
async function admitVisitor(ctx: VisitorContext, visitor: Visitor, body: VisitorBody): Promise<AccountCaller> {
  requireVisitable(visitor, body);
  const address = addressOfAccount(ctx, visitor);
  const account = (await payerAccountOf(ctx, address)) ?? (await openPayerAccount(ctx, address, ctx.clock.now()));
  if (account.isSuspended) throw suspended();
  return { ...keylessCaller(null), ...account };
}

/**
 * Throws FORBIDDEN for a page of another site, which would use up its visitors' limits and hide the real caller; VALIDATION_ERROR for a
 * webhook, as the node sends nothing for unknown callers; and PAYLOAD_TOO_LARGE.
 */
export function requireVisitable({ isFromOtherSite }: Visitor, body: VisitorBody): void {
  if (isFromOtherSite)
    throw new AppError('FORBIDDEN', 'Free calls from other websites require an API key.', {
      help: { docs: '/docs/conventions#keys' },
    });
  if (Buffer.byteLength(JSON.stringify(body)) > MOST_BYTES)
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `A free call without an API key may bring ${MOST_BYTES} bytes. Send a smaller body, or an API key.`,
    );
  if (body.webhookUrl !== undefined) throw invalid('webhookUrl', 'needs an API key when the call is free');
}

/**
 * A visitor's Idempotency-Key identifies a call with this body from this network: repeating all three finds the first one's request.
 * Another body is another call.
 */
function onceForVisitor(
  { secrets }: Pick<NodeKeys, 'secrets'>,
  visitor: Visitor,
  { idempotencyKey, agentId, body }: { idempotencyKey: string | null; agentId: string; body: unknown },
): Once {
  if (idempotencyKey === null) return unkeyed;
  const named = [networkOfVisitor(visitor), idempotencyKey, agentId, JSON.stringify(body)];
  return {
    ...unkeyed,
    idsFor: (prefix, nth) =>
      secrets.codesOf('visitor-id', [...named, prefix, String(nth)]).map((code) => idFromCode(prefix, code)),
  };
}
