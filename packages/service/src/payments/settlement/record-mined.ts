import { depthFor, readDepths } from '../../chain/blocks/confirmation-depth.ts';
import type { ChainAccess } from '../../chain/chain-access.ts';
import { markMined } from '../../chain/transaction-store.ts';
import type { MinedTransaction } from '../../chain/usdc-client.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import type { Confirmations } from '../../config/networks.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Store } from '../../store/database.ts';
import { HeldUpError, type LockMode } from '../../store/lock-free.ts';
import { bookSettled } from '../chain-outbox/book-settled.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { findFailures, nowhere, type PaymentEnd } from '../chain-outbox/chain-payment-store.ts';
import { endPayments } from '../chain-outbox/end-payments.ts';
import { type Fate, fateOf, findFate } from '../chain-outbox/find-fate.ts';
import type { Purchases } from '../chain-outbox/purchases.ts';
import type { RefusalReason } from '../chain-outbox/refusal-reason.ts';

export type SettleOutcome =
  | { readonly state: 'settled'; readonly transactionHash: string }
  | { readonly state: 'failed'; readonly reason: RefusalReason }
  | { readonly state: 'unknown'; readonly transactionHash: string | null };

/** Mined; settles once its block is deep enough and its account is free. */
export interface Confirming {
  readonly state: 'confirming';
  readonly transactionHash: string;
  readonly blockNumber: bigint;
}

/** The transaction was mined and did not move this payment's money. */
export interface Reverted {
  readonly state: 'reverted';
}

export type Recorded = SettleOutcome | Confirming | Reverted;

type RecordContext = Store &
  Pick<ChainAccess, 'usdc'> &
  PaymentConditions & { readonly purchases: Purchases; readonly confirmations: Confirmations };

/**
 * Records a mined transaction: frees its key and ends its payments by its logs; a payment that it did not move may have been moved by
 * another transaction. Left open: a payment that needs more depth, one that failed in a batch, as others in the batch may be the cause, one
 * that the node owes, which never lapses, and one that the token refused for a cause that is not its payer's. A payment already recorded as
 * failed stays failed, regardless of the block: late booking returns its money.
 */
export async function recordMined(
  ctx: RecordContext,
  payments: readonly NewChainPayment[],
  mined: MinedTransaction,
): Promise<Recorded[]> {
  const fates = await fatesOf(ctx, payments, mined);
  const [deepIds, isOfPayer] = await Promise.all([
    deepOnes(ctx, payments, fates),
    isFaultOfPayer(ctx, payments, { fates, inBlock: mined.blockNumber }),
  ]);
  const recorded = payments.map((payment): Recorded => {
    const fate = fates.get(payment.id);
    if (fate?.kind === 'paid') {
      const { transactionHash, blockNumber } = fate.place;
      if (deepIds.has(payment.id)) return { state: 'settled', transactionHash };
      return { state: 'confirming', transactionHash, blockNumber };
    }
    if (fate?.kind === 'taken back') return { state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' };
    if (fate === null) return { state: 'unknown', transactionHash: mined.hash };
    if (!isOfPayer) return { state: 'reverted' };
    return { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' };
  });
  const { endedIds, heldUpIds } = await commitFree(ctx, { payments, recorded, fates, mined });
  const others = payments.filter(({ id }, index) => recorded[index]?.state === 'settled' && !endedIds.has(id));
  const failures = await findFailures(
    ctx.db,
    others.map(({ id }) => id),
  );
  return recorded.map((each, index) => {
    const id = payments[index]?.id ?? '';
    if (heldUpIds.has(id)) return toConfirm(each, mined);
    const reason = failures.get(id);
    return reason ? { state: 'failed', reason } : each;
  });
}

/** Treats a payment with a locked account like one that needs more depth, so that it is tried again. */
const toConfirm = (recorded: Recorded, { hash, blockNumber }: MinedTransaction): Recorded =>
  recorded.state === 'settled'
    ? { state: 'confirming', transactionHash: hash, blockNumber }
    : { state: 'unknown', transactionHash: hash };

/** Use of each authorization; null: spent, but no log shows its use; absent: not spent. */
async function fatesOf(
  ctx: RecordContext,
  payments: readonly NewChainPayment[],
  mined: MinedTransaction,
): Promise<Map<string, Fate | null>> {
  const fates = new Map<string, Fate | null>();
  const reverted: NewChainPayment[] = [];
  for (const payment of payments) {
    const use = mined.used.get(authorizationKey(payment.authorization));
    if (use) fates.set(payment.id, fateOf(payment, use));
    else reverted.push(payment);
  }
  const spent = reverted.length > 0 ? await ctx.usdc.areSpent(reverted.map((p) => p.authorization)) : [];
  // Not told whether it is spent: left open, as one whose use no log shows.
  for (const [index, payment] of reverted.entries())
    if (spent[index] !== false)
      fates.set(payment.id, spent[index] ? await findFate(ctx, payment, ctx.clock.now()) : null);
  return fates;
}

/** True if a payment that was sent alone moved nothing because of its payer. */
async function isFaultOfPayer(
  ctx: RecordContext,
  payments: readonly NewChainPayment[],
  { fates, inBlock }: { readonly fates: ReadonlyMap<string, Fate | null>; readonly inBlock: bigint },
): Promise<boolean> {
  const [only] = payments;
  if (!only || payments.length > 1 || only.direction === 'out' || fates.has(only.id)) return false;
  return (await ctx.settlementHalt.causeOf(only, inBlock).catch(() => 'unknown')) === null;
}

/** Payments with enough confirmations for their amount. One confirmation is already proven by the receipt. */
async function deepOnes(
  ctx: RecordContext,
  payments: readonly NewChainPayment[],
  fates: ReadonlyMap<string, Fate | null>,
): Promise<ReadonlySet<string>> {
  const paid = payments.flatMap(({ id, authorization }) => {
    const fate = fates.get(id);
    const depth = depthFor(ctx.confirmations, authorization.valueMicro);
    return fate?.kind === 'paid' ? [{ id, depth, place: fate.place }] : [];
  });
  const deeper = paid.filter(({ depth }) => depth > 1n);
  const isAsDeep = await readDepths(
    ctx.usdc,
    deeper.map(({ place }) => place),
  );
  return new Set(paid.filter(({ depth, place }) => depth <= 1n || isAsDeep(place, depth)).map(({ id }) => id));
}

interface Recording {
  readonly payments: readonly NewChainPayment[];
  readonly recorded: readonly Recorded[];
  readonly fates: ReadonlyMap<string, Fate | null>;
  readonly mined: MinedTransaction;
}

/** Commits payments with unlocked accounts. One with a locked account stays open and does not delay the rest of its block. */
async function commitFree(
  ctx: RecordContext,
  recording: Recording,
): Promise<{ endedIds: ReadonlySet<string>; heldUpIds: ReadonlySet<string> }> {
  try {
    return { endedIds: await commit(ctx, recording, 'skip'), heldUpIds: new Set() };
  } catch (error) {
    if (!(error instanceof HeldUpError)) throw error;
    const { payments } = recording;
    const heldUpIds = new Set(payments.filter((each) => error.names.has(each.ledgerAccountId)).map(({ id }) => id));
    const recorded = recording.recorded.map(
      (each, index): Recorded =>
        heldUpIds.has(payments[index]?.id ?? '') ? { state: 'unknown', transactionHash: null } : each,
    );
    return { endedIds: await commit(ctx, { ...recording, recorded }, 'wait'), heldUpIds };
  }
}

async function commit(
  ctx: RecordContext,
  { payments, recorded, fates, mined }: Recording,
  locks: LockMode,
): Promise<ReadonlySet<string>> {
  const now = ctx.clock.now();
  const ends = payments.flatMap(({ id }, index): PaymentEnd[] => {
    const outcome = recorded[index];
    const fate = fates.get(id);
    if (outcome?.state === 'settled' && fate?.kind === 'paid')
      return [{ id, state: 'settled', reason: null, ...fate.place }];
    return outcome?.state === 'failed' ? [{ id, state: 'failed', reason: outcome.reason, ...nowhere }] : [];
  });
  const inPlace = (payment: NewChainPayment) => ({
    payment,
    transactionHash: ends.find(({ id }) => id === payment.id)?.transactionHash ?? null,
  });
  const settledIds = new Set(ends.filter(({ state }) => state === 'settled').map(({ id }) => id));
  const endedIds = await ctx.db.transaction(async (tx) => {
    // Same lock order as `writeAhead`: the key, then the payments.
    const book = (ids: ReadonlySet<string>) => {
      const settled = payments.filter(({ id }) => ids.has(id) && settledIds.has(id));
      return bookSettled(ctx, tx, settled.map(inPlace), { now, locks });
    };
    const [, ended] = await Promise.all([markMined(tx, mined), endPayments(tx, payments, ends, now, book)]);
    failpoint('before-record-commit');
    return ended;
  });
  failpoint('after-record-commit');
  return endedIds;
}
