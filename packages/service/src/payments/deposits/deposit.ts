import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import { findMade, type Once, unkeyed } from '../../access/idempotency/once.ts';
import type { HasBaseUrl } from '../../chain/chain-info.ts';
import { whyStalled } from '../../chain/gates/gates.ts';
import { notFound } from '../../lib/app-error.ts';
import { until } from '../../lib/concurrency/until.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import { findLedgerAccount, findTreasuryOf, type LedgerAccount } from '../ledger/ledger-store.ts';
import { agentTreasuryId, requireTreasury, treasuryTitle } from '../ledger/treasury.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { type ChainPaymentState, isOpen } from '../onchain/chain-payment-state.ts';
import { findBySubject } from '../onchain/chain-payment-store.ts';
import { requireAtLeast } from '../onchain/payment-limits.ts';
import type { RefusalReason } from '../onchain/refusal-reason.ts';
import type { HasSettler } from '../settlement/settler.ts';
import { authorizePayment, findShownBefore, type PayablePurchase } from '../x402/authorize-payment.ts';
import { claimPayments } from '../x402/claim-payments.ts';
import type { PaymentChecks } from '../x402/payment-checks.ts';
import type { Shown } from '../x402/payment-header.ts';
import { type Due, paymentPending, paymentRequired } from '../x402/payment-required.ts';

type DepositContext = ChainContext & PaymentChecks & HasSettler & HasSecrets & HasBaseUrl;
export interface DepositAnswer {
  readonly data: DataOf<Api['depositToTreasury']>;
  readonly payer: string;
  readonly version: 1 | 2;
  /** The resource that the payment's terms named, and when the payment came: the same whenever the answer is told again. */
  readonly delivery: { readonly resourceUrl: string; readonly at: Date };
}

/** Maximum time that a request waits for the chain; after that the caller is told to repeat it. */
const WAIT_MS = 25_000;

export interface DepositOptions {
  readonly once?: Once;
  readonly client?: string | null;
  /** Maximum time that the caller waits, if it is less than a deposit waits for. */
  readonly syncWaitMs?: number;
}

/** Credits a treasury with an x402 payment: answers 402 with terms first, then the receipt once paid. */
export async function deposit(
  ctx: DepositContext,
  caller: KnownCaller,
  input: { amount: string; treasuryId?: string | undefined },
  shown: Shown | null,
  { once = unkeyed, client = null, syncWaitMs = WAIT_MS }: DepositOptions = {},
): Promise<DepositAnswer> {
  const startMs = performance.now();
  const waitMs = Math.min(WAIT_MS, syncWaitMs);
  const treasury = await treasuryFor(ctx, caller, input.treasuryId);
  const amountMicro = parseUsdc(input.amount);
  requireAtLeast(amountMicro, ctx.paymentLimits.minDepositMicro);
  const find = (id: string) => findBySubject(ctx.db, id, 'deposit');
  const { made, id } = await findMade(ctx, once, 'trf', find, ({ state }) => !hasCreditedNothing(state));
  const due: Due = {
    purpose: 'deposit',
    // The amount is part of the target: an offer for another amount is not valid here.
    target: `${treasury.id} ${amountMicro}`,
    accountId: caller.accountId,
    amountMicro,
    resourceUrl: `${ctx.baseUrl}/payments/treasury/deposit`,
    description: `Deposit of ${formatUsdc(amountMicro)} USDC into ${await treasuryTitle(ctx, caller.accountId, treasury)}`,
    makeMemo: () => id ?? newId('trf'),
  };
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(['deposit', caller.accountId, treasury.id, input.amount]))
    .digest();
  const purchase = { due, fingerprint, ledgerAccountId: () => treasury.id, client, keyedId: id };
  const before = made ?? (shown && (await findShownBefore(ctx, shown, purchase)));
  const claimed = before ?? (await claimDeposit(ctx, shown, purchase, waitMs));
  const payment = await waitForDeposit(ctx, claimed, due, waitMs - (performance.now() - startMs));
  const after = await findLedgerAccount(ctx.db, treasury.id);
  return {
    payer: payment.authorization.from,
    version: payment.x402Version ?? 2,
    delivery: { resourceUrl: due.resourceUrl, at: payment.createdAt },
    data: {
      paymentId: payment.id,
      treasuryId: treasury.id,
      amount: formatUsdc(amountMicro),
      balance: formatUsdc((after?.postedMicro ?? 0n) - (after?.heldMicro ?? 0n)),
      transactionHash: payment.transactionHash,
    },
  };
}

/** A deposit that the ledger took back is made anew under its key, as one that failed. */
const hasCreditedNothing = (state: ChainPaymentState): boolean => state === 'failed' || state === 'reversed';

async function treasuryFor(ctx: DepositContext, caller: KnownCaller, id: string | undefined): Promise<LedgerAccount> {
  if (id !== undefined) return requireTreasury(ctx, caller, id);
  if (caller.kind === 'agent') return requireTreasury(ctx, caller, agentTreasuryId(caller.agentId));
  const treasury = await findTreasuryOf(ctx.db, caller.accountId);
  if (!treasury) throw notFound('treasury; create one with POST /payments/treasury');
  return treasury;
}

/** Claims the shown payment and starts its settlement; if another request claimed it first, returns that one's payment. */
async function claimDeposit(
  ctx: DepositContext,
  shown: Shown | null,
  purchase: PayablePurchase,
  waitMs: number,
): Promise<NewChainPayment> {
  const payment = await authorizePayment(ctx, shown, purchase);
  failpoint('before-claim-deposit-commit');
  const claimed = await ctx.db.transaction((tx) => claimPayments(tx, [payment], ctx.clock.now()));
  failpoint('after-claim-deposit-commit');
  if (claimed.has(payment.id)) {
    const tired = sleep(waitMs, undefined, { ref: false });
    await Promise.race([ctx.settler.settle(payment), tired]);
    return payment;
  }
  const holder = shown && (await findShownBefore(ctx, shown, purchase, { isLate: true }));
  invariant(holder !== null, 'a claim that was refused has a holder');
  return holder;
}

async function waitForDeposit(ctx: DepositContext, payment: NewChainPayment, due: Due, timeoutMs: number) {
  const { subjectId } = payment;
  const ended = await until(
    async () => {
      const now = await findBySubject(ctx.db, subjectId, 'deposit');
      return now && !isOpen(now.state) ? now : null;
    },
    { timeoutMs, firstMs: 20, mostMs: 500 },
  );
  // The failed deposit keeps its id, even one that came from an Idempotency-Key.
  if (ended && hasCreditedNothing(ended.state))
    throw paymentRequired(ctx, { ...due, makeMemo: () => newId('trf') }, ended.reason as RefusalReason);
  if (ended?.state !== 'settled' || !ended.transactionHash)
    throw paymentPending(subjectId, null, await whyStalled(ctx, ctx.chain));
  return { ...ended, transactionHash: ended.transactionHash };
}
