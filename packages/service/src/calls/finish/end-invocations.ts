import type { EventType } from '@agent-network/contracts/events';
import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import type { CallUsage } from '@agent-network/contracts/invocations/usage';
import { minMicro } from '@agent-network/contracts/money';
import { answersKept } from '../../accounts/idempotency/idempotency.ts';
import type { LateKey } from '../../accounts/idempotency/once.ts';
import { unspend } from '../../accounts/limits/spend.ts';
import { budgetName } from '../../accounts/spending-limits.ts';
import type { PaidOutcome } from '../../agents/reputation/paid-outcome.ts';
import { callsRecorded, type EndedCall, recordCalls } from '../../agents/reputation/record-calls.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { emit, emitted } from '../../events/outbox/outbox.ts';
import { resultFilesKept } from '../../files/store-result-file.ts';
import { jsonSizeUpTo } from '../../lib/json/json-limits.ts';
import type { PaymentConditions } from '../../payments/chain-outbox/chain-context.ts';
import type { HoldEnd } from '../../payments/ledger/hold.ts';
import { endHolds, holdsEndedFree, lockFree } from '../../payments/ledger/hold-money.ts';
import type { Ledger } from '../../payments/ledger/ledger-services.ts';
import type { SchemeId } from '../../payments/ledger/scheme-id.ts';
import { feeOf } from '../../payments/ledger/take-fees.ts';
import { earningAccountOf, payingWalletOf } from '../../payments/ledger/treasury.ts';
import type { RefundWay } from '../../payments/payouts/refund-payer.ts';
import { vouchersEnded } from '../../payments/schemes/batch-settlement/batch-settlement.ts';
import { payingChannel } from '../../payments/schemes/batch-settlement/channel.ts';
import type { ChannelServices } from '../../payments/schemes/batch-settlement/channel-services.ts';
import type { How } from '../../payments/schemes/scheme.ts';
import { paidBy, schemeOf, schemes } from '../../payments/schemes/schemes.ts';
import type { Store } from '../../store/database.ts';
import type { LockMode } from '../../store/lock-free.ts';
import { type Flushed, run, type Statement, type Tx } from '../../store/sql.ts';
import { contentHashes } from '../content-hashes.ts';
import { type CancelReason, costOf, type Failure, type Invocation, type Outcome } from '../invocation.ts';
import {
  type EndedMoney,
  endInvocations,
  type InvocationEnd,
  invocationsEndedPlainly,
  plainMoney,
} from '../invocation-store.ts';
import { bytesOf } from '../pricing/price.ts';
import { MAX_RESULT_BYTES } from '../protocols/agent-answer.ts';
import { endedCounted } from '../read/count-calls.ts';
import { costByUsage, usageOfCall, usageOfShown } from '../usage/rate-usage.ts';
import { readShownBytes } from '../usage/usage-store.ts';

/** The end of an invocation: the agent's outcome, or a cancellation. */
export interface End {
  readonly invocation: Invocation;
  readonly outcome: Outcome | { readonly kind: 'cancelled'; readonly reason: CancelReason };
  /** The time at which the agent was called; absent: not known, the request began at the earliest. */
  readonly askedAt?: Date;
}

/** The answers under Idempotency-Keys that are kept with the ends of requests, by request. */
export type DueAnswers = Map<string, { readonly late: LateKey; readonly answerOf: (ended: Invocation) => unknown }>;

export interface EndContext extends Store, NodeIdentity, Pick<NodeKeys, 'wallet'>, Ledger, PaymentConditions {}

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
  const lasts = lastOfEach(ends);
  const shown = await readShownBytes(
    tx,
    lasts.filter(isRatedByShown).map(({ invocation }) => invocation.id),
  );
  const rows = lasts.map((end) => toRow(end, now, shown.get(end.invocation.id) ?? 0));
  const money = await endInvocations(tx, rows, now);
  const won = endsWith(lasts, rows, money, now);
  if (won.length === 0) return { invocations: new Map(), isToTell: false };
  const ended = won.map(({ invocation }) => invocation);
  // Budgets, then channels, then ledger accounts, as at acceptance: one lock order prevents deadlocks.
  await unspendAll(tx, ended, locks);
  const payers = await chargeAll(tx, ended, { now, locks });
  // Sent together; the ledger comes last, because many transactions wait for the same account.
  const accounts = ended.flatMap(accountsOf);
  const [isToTell] = await Promise.all([
    emit(tx, ended.map(toEvent), now),
    recordCalls(
      tx,
      won.map((end) => toEndedCall(end, payers, now)),
      now,
    ),
    run(tx, endedCounted(ctx, ended)),
    ...resultFilesKept(won.map(withFiles), now).map((statement) => run(tx, statement)),
    locks === 'skip' && accounts.length > 0 ? lockFree(tx, accounts) : null,
    endHolds(tx, holdEndsOf(ctx, ended), now, locks),
    ...schemes.map((scheme) => scheme.release?.(tx, paidBy(ended, scheme), { now, locks })),
  ]);
  return { invocations: endedById(ended, await oweBack(ctx, tx, ended)), isToTell };
}

/**
 * Ends plain requests by one flush; null if any is not plain. Plain means: no output shown, no bill, no refund on chain, no return to a
 * budget, no locked account. The flush has guards for conditions that only the database knows.
 */
export function flushOfEnds(ctx: FlushContext, ends: readonly End[], now: Date): EndsFlush | null {
  if (!ends.every(isPlain)) return null;
  const lasts = lastOfEach(ends);
  const rows = lasts.map((end) => toRow(end, now, 0));
  const won = endsWith(lasts, rows, new Map(rows.map((row) => [row.id, plainMoney(row)])), now);
  const ended = won.map(({ invocation }) => invocation);
  if (ended.some(isSettledApart)) return null;
  const byVoucher = ended.filter(({ scheme }) => scheme === 'batch-settlement');
  const payers = payersOf(ctx, byVoucher);
  if (payers.size < byVoucher.length) return null;
  const vouchers = byVoucher.length > 0 ? vouchersEnded(byVoucher, now) : null;
  const events = emitted(ended.map(toEvent), now);
  const answers = answersOf(ctx, ended);
  const statements = [
    invocationsEndedPlainly(rows, now),
    ...(answers.length > 0 ? [answersKept(answers)] : []),
    ...resultFilesKept(won.map(withFiles), now),
    ...(vouchers?.before ?? []),
    events,
    callsRecorded(
      won.map((end) => toEndedCall(end, payers, now)),
      now,
    ),
    endedCounted(ctx, ended),
    ...holdsEndedFree(holdEndsOf(ctx, ended), ended.flatMap(accountsOf), now),
    ...(vouchers ? [...vouchers.after, vouchers.channels] : []),
  ];
  const ways = new Map(
    ended.flatMap(({ id, scheme, refundMicro }) => (refundMicro && scheme ? [[id, refundWays[scheme]]] : [])),
  );
  return {
    statements,
    endedBy(flushed) {
      for (const { kept } of answers) kept();
      const channels = new Map(vouchers && flushed.rowsOf(vouchers.channels).map((channel) => [channel.id, channel]));
      for (const { id, ...paid } of byVoucher) {
        const channel = channels.get(payingChannel(paid) ?? '');
        if (channel) ctx.channels.afterEnds.set(id, channel);
      }
      const isToTell = flushed.rowsOf(events).some((event) => event.isToTell);
      return { invocations: endedById(ended, ways), isToTell };
    },
  };
}

type FlushContext = EndContext & ChannelServices & { readonly dueAnswers: DueAnswers };

/** The ways of refunds that need no statement of their own; one on chain is settled apart. */
const refundWays: Readonly<Record<SchemeId, RefundWay>> = {
  ...{ treasury: 'treasury', 'batch-settlement': 'channel', exact: 'none' },
};

/** The wallets that paid by voucher, by request, where they are known. */
const payersOf = ({ channels }: ChannelServices, byVoucher: readonly EndedRow[]): ReadonlyMap<string, string> =>
  new Map(
    byVoucher.flatMap((each): [string, string][] => {
      const payer = channels.payers.get(payingChannel(each) ?? '');
      return payer === undefined ? [] : [[each.id, payer]];
    }),
  );

/** Answers to store with the ends. If one can't be built, the call itself stores it later, and fails there. */
const answersOf = ({ dueAnswers }: { readonly dueAnswers: DueAnswers }, ended: readonly EndedRow[]) =>
  ended.flatMap((invocation) => {
    const due = dueAnswers.get(invocation.id);
    try {
      return due ? [{ held: due.late.key, ...due.late.answerOf(due.answerOf(invocation)) }] : [];
    } catch {
      return [];
    }
  });

/** The last end of each request, as a cancellation may share the batch of an answer. */
const lastOfEach = (ends: readonly End[]): End[] => [...new Map(ends.map((end) => [end.invocation.id, end])).values()];

/** Ends as statements that are committed in one round trip. */
export interface EndsFlush {
  readonly statements: readonly Statement[];
  /** Requests ended by the flush, once it is committed. */
  readonly endedBy: (flushed: Flushed) => Ended;
}

/** True if the end itself shows that no chunk was shown and no other row is needed. */
const isPlain = ({ invocation, outcome }: End): boolean =>
  !invocation.isStreamed &&
  invocation.billedMicro === null &&
  !(outcome.kind === 'failed' && outcome.reason === 'agent_unreachable');

/** True if it has money for a budget or a wallet, each of which has statements of its own. */
const isSettledApart = ({ budgetId, scheme, priceMicro, costMicro, refundMicro }: EndedRow): boolean =>
  (budgetId !== null && priceMicro > (costMicro ?? 0n)) || (scheme === 'exact' && (refundMicro ?? 0n) > 0n);

type EndedRow = Invocation & Pick<InvocationEnd, 'cancelReason'> & EndedMoney;

/** The ends that took place, each with the request in its new state. */
const endsWith = (
  ends: readonly End[],
  rows: readonly InvocationEnd[],
  money: ReadonlyMap<string, EndedMoney>,
  now: Date,
): (End & { readonly invocation: EndedRow })[] =>
  ends.flatMap((end, index) => {
    const { invocation } = end;
    const paid = money.get(invocation.id);
    return paid
      ? [{ ...end, invocation: { ...invocation, ...(rows[index] as InvocationEnd), ...paid, completedAt: now } }]
      : [];
  });

/** The requests with the files of their results. */
const withFiles = ({ invocation: { id }, outcome }: End) => ({
  id,
  files: outcome.kind === 'completed' ? (outcome.files ?? []) : [],
});

const holdEndsOf = (ctx: EndContext, ended: readonly EndedRow[]): HoldEnd[] =>
  ended.flatMap(({ id, agentId, payerLedgerId, captureMicro }) =>
    payerLedgerId === null
      ? []
      : [
          {
            id,
            captureMicro,
            creditId: earningAccountOf(agentId, payerLedgerId),
            feeMicro: feeOf(captureMicro, ctx.platformFeeBps),
          },
        ],
  );

const endedById = (ended: readonly EndedRow[], ways: ReadonlyMap<string, RefundWay>) =>
  new Map(ended.map((invocation) => [invocation.id, { ...invocation, refundWay: ways.get(invocation.id) ?? 'none' }]));

/** The accounts that the end of a request moves money of. */
const accountsOf = ({ payerLedgerId, agentId }: Pick<Invocation, 'payerLedgerId' | 'agentId'>): string[] =>
  payerLedgerId === null ? [] : [payerLedgerId, earningAccountOf(agentId, payerLedgerId)];

/** The rows that an end may wait for, as a HeldUpError names them. */
export const rowsOf = ({ invocation }: End): string[] => [
  ...accountsOf(invocation),
  ...(invocation.budgetId === null ? [] : [budgetName(invocation.budgetId)]),
  invocation.accountId,
];

/** Usage of a call that ends now; null: unknown. `shownBytes`: of the output that its caller pays for; null: none. */
function usageOfEnd({ invocation, outcome }: End, durationMs: number, shownBytes: number | null): CallUsage | null {
  const { usageTerms } = invocation;
  const claim = outcome.kind === 'completed' ? (outcome.usage ?? null) : null;
  if (claim === null && usageTerms === null) return null;
  const measured = { durationMs: Math.max(0, durationMs), inputBytes: bytesOf(invocation) };
  if (outcome.kind === 'completed')
    return usageOfCall(usageTerms, claim, {
      ...measured,
      resultBytes: jsonSizeUpTo(MAX_RESULT_BYTES, outcome.result),
    });
  return usageTerms === null || shownBytes === null
    ? null
    : usageOfShown(usageTerms, shownBytes, { ...measured, resultBytes: shownBytes });
}

/** True for an end that costs what was shown, at an agent that is paid by usage. Only a streamed call shows anything before its end. */
const isRatedByShown = ({ invocation, outcome }: End): boolean =>
  invocation.usageTerms !== null && invocation.isStreamed && paysForShown(outcome);

/** `shownBytes`: of the output that its caller was shown, where the cost follows them. */
function toRow(end: End, now: Date, shownBytes: number): InvocationEnd {
  const { invocation, outcome } = end;
  const durationMs = now.getTime() - askedAtOf(end).getTime();
  const usage = usageOfEnd(end, durationMs, isRatedByShown(end) ? shownBytes : null);
  // An agent that calls itself owes itself nothing: no account pays itself.
  const isToSelf = invocation.payerLedgerId === earningAccountOf(invocation.agentId, invocation.payerLedgerId);
  const costMicro = outcome.kind === 'cancelled' || isToSelf ? 0n : costOf(outcome, invocation, usage);
  // A payment that never came in is not refunded.
  const paidMicro = outcome.kind === 'failed' && outcome.reason === 'payment_failed' ? 0n : invocation.priceMicro;
  return {
    id: invocation.id,
    attempt: invocation.attempt,
    status: outcome.kind,
    result: outcome.kind === 'completed' ? outcome.result : null,
    usage,
    costMicro,
    refundMicro: paidMicro - costMicro,
    ...shownOf(invocation, outcome, { costMicro, isToSelf, usage }),
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

/** Cost and flags of a request that ends after output was shown. */
function shownOf(
  { shownShare, priceMicro, usageTerms }: Invocation,
  outcome: End['outcome'],
  { costMicro, isToSelf, usage }: { costMicro: bigint; isToSelf: boolean; usage: CallUsage | null },
): Pick<InvocationEnd, 'shownCostMicro' | 'isShownPaid'> {
  const isShownPaid = paysForShown(outcome);
  const wholeMicro = usageTerms ? minMicro(priceMicro, costByUsage(usageTerms, usage?.units ?? [])) : priceMicro;
  return { isShownPaid, shownCostMicro: isShownPaid && !isToSelf ? shownCost(wholeMicro, shownShare) : costMicro };
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

const askedAtOf = ({ invocation, askedAt }: End): Date => askedAt ?? invocation.startedAt ?? invocation.createdAt;

/** Only the agent's own doing counts against it; not a call that gave it no chance to answer, nor the time before it was called. */
function toEndedCall(end: End, payers: ReadonlyMap<string, string>, now: Date): EndedCall {
  const { invocation, outcome } = end;
  const askedAt = askedAtOf(end);
  const durationMs = now.getTime() - askedAt.getTime();
  const { agentId } = invocation;
  if (outcome.kind === 'cancelled') return { agentId, end: 'void', durationMs, outcome: null };
  const paid = paidOutcomeOf(invocation, outcome, { askedAt, channelPayer: payers.get(invocation.id) ?? null });
  if (outcome.kind === 'completed') return { agentId, end: 'completed', durationMs, outcome: paid };
  if (isOthersFault(invocation, outcome)) return { agentId, end: 'void', durationMs, outcome: null };
  return { agentId, end: outcome.reason === 'agent_unreachable' ? 'unreachable' : 'failed', durationMs, outcome: paid };
}

/** Puts the events of the ends into the outbox, in the caller's transaction. */
export const emitEnded = (tx: Tx, ended: readonly Invocation[], now: Date): Promise<boolean> =>
  emit(tx, ended.map(toEvent), now);

/** An ended record never changes, so the event needs no copy of it. */
const toEvent = ({ id, accountId, status, webhookUrl }: Invocation) => ({
  type: `invocation.${status}` as EventType,
  accountId,
  subjectId: id,
  data: null,
  webhookUrl,
});

/** An agent that was given less time than this can't be blamed for missing the deadline. */
const FAIR_MS = 30_000;

/**
 * Failures that are not known to be the agent's doing, and no failed calls of it: it had no chance to answer, its home node found that the
 * input does not fit its schema, its question was not answered, or the node was restored and lost how the call had ended. A home that does not call its agent and keeps the
 * money is another matter.
 */
export const isOthersFault = (
  invocation: Pick<Invocation, 'costMicro' | 'promisedMicro'>,
  { reason, isUnasked }: Failure,
): boolean =>
  (isUnasked === true && (invocation.costMicro ?? 0n) === 0n) ||
  othersFaults.has(reason) ||
  (unanswered.has(reason) && !hasKeptMoney(invocation));

const othersFaults: ReadonlySet<FailureReason> = new Set([
  'payment_failed',
  'agent_removed',
  'input_invalid',
  'node_restored',
]);

/** Ends that any caller can bring about, by an unclear task or by not answering. */
const unanswered: ReadonlySet<FailureReason> = new Set(['input_timeout', 'input_declined']);

/** True if the agent, or its home, kept money of a call that came to nothing. */
const hasKeptMoney = ({ costMicro, promisedMicro }: Pick<Invocation, 'costMicro' | 'promisedMicro'>): boolean =>
  (costMicro ?? 0n) > (promisedMicro ?? 0n);

/** Further facts about an end: the time at which the agent was called, and the wallet of the channel that paid by voucher. */
interface Known {
  readonly askedAt: Date;
  readonly channelPayer: string | null;
}

/** The evidence of an ended paid invocation about its agent; null when nothing was paid, or when the end says nothing of the agent. */
export function paidOutcomeOf(
  invocation: Invocation,
  outcome: Outcome,
  { askedAt, channelPayer }: Known,
): PaidOutcome | null {
  const { id: requestId, agentId, accountId, scheme, paymentHash } = invocation;
  if (scheme === null || !hasComeIn(scheme, paymentHash, channelPayer)) return null;
  const isGood = outcome.kind === 'completed';
  if (!isGood && saysNothing(invocation, outcome, askedAt)) return null;
  const amountMicro = isGood ? (invocation.costMicro ?? 0n) : invocation.priceMicro;
  if (amountMicro === 0n) return null;
  const wallet = channelPayer ?? payingWalletOf(invocation) ?? '';
  return { requestId, agentId, accountId, wallet, amountMicro, isGood };
}

/** True if the payment is there: a wallet's is on chain, a channel has been charged. */
const hasComeIn = (scheme: SchemeId, paymentHash: string | null, channelPayer: string | null): boolean =>
  ({ reserve: true, before_run: paymentHash !== null, after_end: channelPayer !== null })[
    schemeOf({ scheme }).fundedAt
  ];

const saysNothing = (invocation: Invocation, failure: Failure, askedAt: Date): boolean =>
  isOthersFault(invocation, failure) || isHurried(invocation, failure, askedAt) || isUnclear(invocation, failure);

/** Any caller can bring about by an unclear task that an agent asks for more; unless the agent kept money, that cost the caller nothing. */
const isUnclear = (invocation: Invocation, { reason }: Failure): boolean =>
  reason === 'agent_needs_input' && !hasKeptMoney(invocation);

/** The time that a call waited for its slot is the caller's own: it may be one that the caller has made full. */
const isHurried = ({ deadline }: Invocation, { reason }: Failure, askedAt: Date): boolean =>
  reason === 'deadline_exceeded' && deadline.getTime() - askedAt.getTime() < FAIR_MS;

/**
 * Failures that a caller can cause, by its deadline, its request, its silence or a declined answer, after reading the agent's output. Other failures are the agent's or the
 * node's fault and cost nothing.
 */
const paidFailures: ReadonlySet<FailureReason> = new Set([
  'deadline_exceeded',
  'agent_needs_input',
  'response_too_large',
  'input_timeout',
  'input_declined',
]);

/** True for an end without a result that still costs the shown output, regardless of who ended the call. */
const paysForShown = (outcome: Outcome | { readonly kind: 'cancelled' }): boolean =>
  outcome.kind === 'cancelled' || (outcome.kind === 'failed' && paidFailures.has(outcome.reason));

/** The cost of a call that is ended early after output was shown, rounded up. */
export const shownCost = (priceMicro: bigint, share: number | null): bigint =>
  (priceMicro * BigInt(share ?? 100) + 99n) / 100n;
