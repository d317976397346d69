import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { findByIdempotencyKey, type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import { whyStalled } from '../../chain/blocks/gates.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { onAsked } from '../../chain/networks.ts';
import { notFound } from '../../lib/app-error.ts';
import { until } from '../../lib/concurrency/until.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { type ChainPaymentState, isOpen } from '../chain-outbox/chain-payment-state.ts';
import { findBySubject } from '../chain-outbox/chain-payment-store.ts';
import { requireAtLeast } from '../chain-outbox/payment-limits.ts';
import type { RefusalReason } from '../chain-outbox/refusal-reason.ts';
import { assetOf, type LedgerAsset, plainId } from '../ledger/asset-account.ts';
import { findLedgerAccount, findTreasuryOf, type LedgerAccount, openBeside } from '../ledger/ledger-store.ts';
import { agentTreasuryId, requireTreasury, treasuryTitle } from '../ledger/treasury.ts';
import { authorizePayment, findPresentedBefore, type PayablePurchase } from '../schemes/exact/authorize-payment.ts';
import { claimPayments } from '../schemes/exact/claim-payments.ts';
import type { PaymentChecks } from '../schemes/exact/payment-checks.ts';
import type { Settler } from '../settlement/settler.ts';
import { type PaymentTerms, paymentPending, paymentRequired } from '../x402/payment-required.ts';
import { onPresented, type PresentedPayment } from '../x402/presented-payment.ts';

export type DepositContext = ChainContext &
  PaymentChecks &
  Pick<NodeKeys, 'secrets'> &
  NodeIdentity & { readonly settler: Settler };
export interface DepositAnswer {
  readonly data: DataOf<Api['depositToTreasury']>;
  readonly payer: string;
  readonly version: 1 | 2;
  /** The asset that came; null: the default one. */
  readonly asset: LedgerAsset;
  /** The resource in the payment's terms and the time of payment; repeated answers carry the same values. */
  readonly delivery: { readonly resourceUrl: string; readonly at: Date };
}

/** Maximum time that a request waits for the chain. After that the answer asks the caller to repeat it. */
const WAIT_MS = 25_000;

export interface DepositOptions {
  readonly once?: Once;
  /** Id of a deposit that no Idempotency-Key names; without it a new one. */
  readonly newId?: string;
  readonly client?: string | null;
  /** Maximum time that the caller waits, if it is less than a deposit waits for. */
  readonly syncWaitMs?: number;
}

/**
 * Credits a treasury with an x402 payment: answers 402 with terms first, then the receipt once paid. The money goes to the holder's
 * treasury in the asset that arrives, even if another of them is named; the terms are in each asset, or in the requested one.
 */
export async function deposit(
  anyCtx: DepositContext,
  caller: KnownCaller,
  input: { amount: string; treasuryId?: string | undefined; asset?: string | undefined },
  shown: PresentedPayment | null,
  { once = unkeyed, newId: given, client = null, syncWaitMs = WAIT_MS }: DepositOptions = {},
): Promise<DepositAnswer> {
  const ctx = onPresented(onAsked(anyCtx, input.asset, 'asset'), shown);
  const startMs = performance.now();
  const waitMs = Math.min(WAIT_MS, syncWaitMs);
  const treasury = await treasuryFor(ctx, caller, input.treasuryId);
  const amountMicro = parseUsdc(input.amount);
  requireAtLeast(amountMicro, ctx.paymentLimits.minDepositMicro);
  const find = (id: string) => findBySubject(ctx.db, id, 'deposit');
  const { made, id } = await findByIdempotencyKey(ctx, once, 'trf', find, ({ state }) => !hasCreditedNothing(state));
  const due: PaymentTerms = {
    purpose: 'deposit',
    // The amount is part of the target: an offer for another amount is not valid here.
    target: `${treasury.id} ${amountMicro}`,
    accountId: caller.accountId,
    amountMicro,
    resourceUrl: `${ctx.baseUrl}/payments/treasury/deposit`,
    description: `Deposit of ${formatUsdc(amountMicro)} USDC into ${await treasuryTitle(ctx, caller.accountId, treasury)}`,
    makeMemo: () => id ?? given ?? newId('trf'),
    isOnlyHere: input.asset !== undefined,
  };
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(['deposit', caller.accountId, treasury.id, input.amount]))
    .digest();
  const purchase = { due, fingerprint, ledgerAccountId: () => plainId(treasury.id), client, keyedId: id };
  const before = made ?? (shown && (await findPresentedBefore(ctx, shown, purchase)));
  const claimed = before ?? (await claimDeposit(ctx, shown, purchase, waitMs));
  const payment = await waitForDeposit(ctx, claimed, due, waitMs - (performance.now() - startMs));
  const after = await findLedgerAccount(ctx.db, payment.ledgerAccountId);
  return {
    payer: payment.authorization.from,
    version: payment.x402Version ?? 2,
    asset: assetOf(payment.ledgerAccountId),
    delivery: { resourceUrl: due.resourceUrl, at: payment.createdAt },
    data: {
      paymentId: payment.id,
      treasuryId: payment.ledgerAccountId,
      amount: formatUsdc(amountMicro),
      balance: formatUsdc((after?.postedMicro ?? 0n) - (after?.heldMicro ?? 0n)),
      transactionHash: payment.transactionHash,
    },
  };
}

/** True for a failed deposit, and for one that the ledger reversed. Both can be made again under the same key. */
export const hasCreditedNothing = (state: ChainPaymentState): boolean => state === 'failed' || state === 'reversed';

async function treasuryFor(ctx: DepositContext, caller: KnownCaller, id: string | undefined): Promise<LedgerAccount> {
  if (id !== undefined) return requireTreasury(ctx, caller, id);
  if (caller.kind === 'agent') return requireTreasury(ctx, caller, agentTreasuryId(caller.agentId));
  const treasury = await findTreasuryOf(ctx.db, caller.accountId);
  if (!treasury) throw notFound('account treasury');
  return treasury;
}

/** Claims the shown payment and starts its settlement; if another request claimed it first, returns that one's payment. */
async function claimDeposit(
  ctx: DepositContext,
  shown: PresentedPayment | null,
  purchase: PayablePurchase,
  waitMs: number,
): Promise<NewChainPayment> {
  const payment = await authorizePayment(ctx, shown, purchase);
  failpoint('before-claim-deposit-commit');
  const claimed = await ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const { ledgerAsset } = ctx.chain;
    if (ledgerAsset !== null) await openBeside(tx, [plainId(payment.ledgerAccountId)], ledgerAsset, now);
    return claimPayments(tx, [payment], now);
  });
  failpoint('after-claim-deposit-commit');
  if (claimed.has(payment.id)) {
    const tired = sleep(waitMs, undefined, { ref: false });
    await Promise.race([ctx.settler.settle(payment), tired]);
    return payment;
  }
  const holder = shown && (await findPresentedBefore(ctx, shown, purchase, { isLate: true }));
  invariant(holder !== null, 'a claim that was refused has a holder');
  return holder;
}

async function waitForDeposit(ctx: DepositContext, payment: NewChainPayment, due: PaymentTerms, timeoutMs: number) {
  const { subjectId } = payment;
  const ended = await until(
    async () => {
      const now = await findBySubject(ctx.db, subjectId, 'deposit');
      return now && !isOpen(now.state) ? now : null;
    },
    { timeoutMs, firstMs: 20, maxMs: 500 },
  );
  // The failed deposit keeps its id, even one that came from an Idempotency-Key.
  if (ended && hasCreditedNothing(ended.state))
    throw paymentRequired(ctx, { ...due, makeMemo: () => newId('trf') }, ended.reason as RefusalReason);
  if (ended?.state !== 'settled' || !ended.transactionHash)
    throw paymentPending(subjectId, null, await whyStalled(ctx, ctx.chain));
  return { ...ended, transactionHash: ended.transactionHash };
}
