import type { EventType } from '@agent-network/contracts/events';
import { budgetName } from '../../access/caller/spending-limits.ts';
import { unspend } from '../../access/limits/spend.ts';
import { type EndedCall, recordCalls } from '../../agents/reputation/record-calls.ts';
import type { HasChain } from '../../chain/chain-info.ts';
import type { HasWallet } from '../../chain/keys/node-keys.ts';
import type { LockMode } from '../../db/lock-free.ts';
import type { Tx } from '../../db/sql.ts';
import { emit } from '../../events/outbox/outbox.ts';
import type { HasClock } from '../../lib/clock.ts';
import { endHolds, lockFree } from '../../payments/ledger/hold-money.ts';
import { feeOf, type HasPlatformFee } from '../../payments/ledger/platform-fee.ts';
import { agentTreasuryId } from '../../payments/ledger/treasury.ts';
import type { HasPaymentLimits } from '../../payments/onchain/payment-limits.ts';
import type { RefundWay } from '../../payments/payouts/refund.ts';
import type { How } from '../../payments/schemes/scheme.ts';
import { paidBy, schemeOf, schemes } from '../../payments/schemes/schemes.ts';
import { contentHashes } from '../content-hashes.ts';
import { type CancelReason, costOf, type Invocation, type Outcome } from '../invocation.ts';
import { endInvocations, type InvocationEnd } from '../invocation-store.ts';
import { countEnded } from '../stats/count-calls.ts';
import { isOthersFault, paidOutcomeOf } from './paid-outcome.ts';
import { paysForShown, shownCost } from './shown-cost.ts';

/** The end of an invocation: the agent's outcome, or a cancellation. */
export interface End {
  readonly invocation: Invocation;
  readonly outcome: Outcome | { readonly kind: 'cancelled'; readonly reason: CancelReason };
  /** The time at which the agent was called; absent: not known, the request began at the earliest. */
  readonly askedAt?: Date;
}

export interface EndContext extends HasClock, HasChain, HasWallet, HasPlatformFee, HasPaymentLimits {}

/** An ended invocation with the reason of a cancellation and the way of its refund. */
export interface EndedInvocation extends Invocation {
  readonly cancelReason: CancelReason | null;
  readonly refundWay: RefundWay;
}

export interface Ended {
  /** The invocations that this call ended, in their new state, by id; absent: ended or taken over before. */
  readonly invocations: ReadonlyMap<string, EndedInvocation>;
  /** True when an event has a receiver. */
  readonly isToTell: boolean;
}

/** Ends invocations: the only way in which a request stops and its money is assigned. */
export interface Finisher {
  /** The ended invocation: by this end, or by an earlier one. */
  finish(end: End): Promise<Invocation>;
  /** Time for which the oldest end has waited for its transaction; large ones are not counted. */
  waitingMs(): number;
}

export interface HasFinisher {
  readonly finisher: Finisher;
}

/**
 * Writes state, ledger, refund, the agents' records and events in the caller's transaction. Only invocations that this call ends move
 * money.
 */
export async function endAll(
  ctx: EndContext,
  tx: Tx,
  ends: readonly End[],
  { now, locks }: { readonly now: Date; readonly locks: LockMode },
): Promise<Ended> {
  const rows = new Map(ends.map((end) => [end.invocation.id, toRow(end)]));
  const money = await endInvocations(tx, [...rows.values()], now);
  const won = ends.filter(({ invocation }) => money.has(invocation.id));
  const ended = new Map(
    won.map(({ invocation }) => [
      invocation.id,
      { ...invocation, ...(rows.get(invocation.id) as InvocationEnd), ...money.get(invocation.id), completedAt: now },
    ]),
  );
  // Budgets, then channels, then ledger accounts, as at acceptance: one lock order prevents deadlocks.
  await unspendAll(tx, [...ended.values()], locks);
  const payers = await chargeAll(tx, [...ended.values()], { now, locks });
  const holdEnds = won
    .filter(({ invocation }) => invocation.payerLedgerId !== null)
    .map(({ invocation: { id, agentId } }) => {
      const captureMicro = money.get(id)?.captureMicro ?? 0n;
      return {
        id,
        captureMicro,
        creditId: agentTreasuryId(agentId),
        feeMicro: feeOf(captureMicro, ctx.platformFeeBps),
      };
    });
  // Sent together; the ledger comes last, because many transactions wait for the same account.
  const calls = won.map((end) =>
    toEndedCall({ ...end, invocation: ended.get(end.invocation.id) ?? end.invocation }, payers, now),
  );
  const accounts = won.flatMap(({ invocation }) => accountsOf(invocation));
  const [isToTell] = await Promise.all([
    tellEnded(tx, [...ended.values()], now),
    recordCalls(tx, calls, now),
    countEnded(ctx, tx, [...ended.values()]),
    locks === 'skip' && accounts.length > 0 ? lockFree(tx, accounts) : null,
    endHolds(tx, holdEnds, now, locks),
    ...schemes.map((scheme) => scheme.release?.(tx, paidBy([...ended.values()], scheme), { now, locks })),
  ]);
  const ways = await oweBack(ctx, tx, [...ended.values()]);
  const invocations = new Map(
    [...ended].map(([id, invocation]) => [id, { ...invocation, refundWay: ways.get(id) ?? ('none' as const) }]),
  );
  return { invocations, isToTell };
}

/** The accounts that the end of a request moves money of. */
const accountsOf = ({ payerLedgerId, agentId }: Pick<Invocation, 'payerLedgerId' | 'agentId'>): string[] =>
  payerLedgerId === null ? [] : [payerLedgerId, agentTreasuryId(agentId)];

/** The rows that an end may wait for, as a HeldUpError names them. */
export const rowsOf = ({ invocation }: End): string[] => [
  ...accountsOf(invocation),
  ...(invocation.budgetId === null ? [] : [budgetName(invocation.budgetId)]),
  invocation.accountId,
];

function toRow({ invocation, outcome }: End): InvocationEnd {
  // An agent that calls itself owes itself nothing: no account pays itself.
  const isToSelf = invocation.payerLedgerId === agentTreasuryId(invocation.agentId);
  const costMicro = outcome.kind === 'cancelled' || isToSelf ? 0n : costOf(outcome, invocation.priceMicro);
  // A payment that never came in is not refunded.
  const paidMicro = outcome.kind === 'failed' && outcome.reason === 'payment_failed' ? 0n : invocation.priceMicro;
  return {
    id: invocation.id,
    attempt: invocation.attempt,
    status: outcome.kind,
    result: outcome.kind === 'completed' ? outcome.result : null,
    costMicro,
    refundMicro: paidMicro - costMicro,
    ...shownOf(invocation, outcome, { costMicro, isToSelf }),
    errorCode: outcome.kind === 'failed' ? outcome.reason : null,
    errorMessage: outcome.kind === 'failed' ? outcome.message : null,
    cancelReason: outcome.kind === 'cancelled' ? outcome.reason : null,
    contentHashes: contentHashes({
      input: invocation.input,
      context: invocation.context,
      result: outcome.kind === 'completed' ? outcome.result : null,
      isCompleted: outcome.kind === 'completed',
    }),
  };
}

/** What it costs if output of it was shown. */
function shownOf(
  { shownShare, priceMicro }: Invocation,
  outcome: End['outcome'],
  { costMicro, isToSelf }: { costMicro: bigint; isToSelf: boolean },
): Pick<InvocationEnd, 'shownCostMicro' | 'isShownPaid'> {
  const isShownPaid = paysForShown(outcome);
  return { isShownPaid, shownCostMicro: isShownPaid && !isToSelf ? shownCost(priceMicro, shownShare) : costMicro };
}

/** Charges the sources of ended requests by their schemes, in lock order. Returns the wallets that paid, by request. */
async function chargeAll(tx: Tx, ended: readonly Invocation[], how: How): Promise<ReadonlyMap<string, string>> {
  const payers = new Map<string, string>();
  for (const scheme of schemes)
    for (const [id, wallet] of (await scheme.charge?.(tx, paidBy(ended, scheme), how)) ?? []) payers.set(id, wallet);
  return payers;
}

/** Refunds ended invocations by their schemes. Returns the way of each refund; an invocation without one is absent. */
export async function oweBack(
  ctx: EndContext,
  tx: Tx,
  ended: readonly Invocation[],
): Promise<ReadonlyMap<string, RefundWay>> {
  const ways = new Map<string, RefundWay>();
  for (const { scheme, refundMicro, ...rest } of ended) {
    if (!refundMicro || scheme === null) continue;
    ways.set(rest.id, await schemeOf({ scheme }).refund(ctx, tx, { ...rest, scheme, refundMicro }));
  }
  return ways;
}

/** Returns the unspent part of a request to its daily budget. */
const unspendAll = (tx: Tx, ended: readonly Invocation[], locks: LockMode): Promise<void> =>
  unspend(
    tx,
    ended.flatMap(({ budgetId, priceMicro, costMicro, createdAt }) =>
      budgetId === null ? [] : [{ budgetId, amountMicro: priceMicro - (costMicro ?? 0n), spentAt: createdAt }],
    ),
    locks,
  );

/** Only the agent's own doing counts against it; not a call that gave it no chance to answer, nor the time before it was called. */
function toEndedCall(
  { invocation, outcome, askedAt = invocation.startedAt ?? invocation.createdAt }: End,
  payers: ReadonlyMap<string, string>,
  now: Date,
): EndedCall {
  const durationMs = now.getTime() - askedAt.getTime();
  const { agentId } = invocation;
  if (outcome.kind === 'cancelled') return { agentId, end: 'void', durationMs, outcome: null };
  const paid = paidOutcomeOf(invocation, outcome, { askedAt, channelPayer: payers.get(invocation.id) ?? null });
  if (outcome.kind === 'completed') return { agentId, end: 'completed', durationMs, outcome: paid };
  if (isOthersFault(invocation, outcome)) return { agentId, end: 'void', durationMs, outcome: null };
  return { agentId, end: outcome.reason === 'agent_unreachable' ? 'unreachable' : 'failed', durationMs, outcome: paid };
}

/** Puts the events of the ends into the outbox, in the caller's transaction. */
export const tellEnded = (tx: Tx, ended: readonly Invocation[], now: Date): Promise<boolean> =>
  emit(tx, ended.map(toEvent), now);

/** An ended record never changes, so the event needs no copy of it. */
const toEvent = ({ id, accountId, status, webhookUrl }: Invocation) => ({
  type: `invocation.${status}` as EventType,
  accountId,
  subjectId: id,
  data: null,
  webhookUrl,
});
