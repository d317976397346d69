import { forgetOldEntries } from '../accounts/audit.ts';
import { forgetExpiredKeys, forgetSecrets } from '../accounts/idempotency/idempotency.ts';
import { forgetDeadKeys } from '../accounts/keys/manage-keys.ts';
import { forgetOldSessions } from '../accounts/keys/manage-sessions.ts';
import { forgetWindows } from '../accounts/limits/rate-limiter.ts';
import type { AgentServices } from '../agents/agent-services.ts';
import { HAS_DUE_CHECKS } from '../agents/agent-store.ts';
import type { CheckContext } from '../agents/health/check-agents.ts';
import { forgetTypes } from '../agents/listing/declare-types.ts';
import type { VectorFiller } from '../agents/meaning/fill-vectors.ts';
import { HAS_DUE_VECTORS } from '../agents/meaning/vector-store.ts';
import { HAS_SOLD } from '../agents/onchain/agent-token-store.ts';
import { type FollowContext, followOwners } from '../agents/onchain/follow-owners.ts';
import type { EntryKeeper } from '../agents/onchain/keep-entries.ts';
import { HAS_FEEDBACK_DUE } from '../agents/reputation/feedback-store.ts';
import { giveFeedback } from '../agents/reputation/give-feedback.ts';
import { HAS_UNCOUNTED } from '../agents/reputation/outcome-store.ts';
import { recomputeReputations } from '../agents/reputation/recompute-reputations.ts';
import { HAS_DUE_REPUTATIONS } from '../agents/reputation/reputation-store.ts';
import { auditMoney, releaseStaleHolds } from '../calls/finish/audit-money.ts';
import type { EndContext } from '../calls/finish/end-invocations.ts';
import { settleBills } from '../calls/finish/settle-bills.ts';
import { HAS_ORPHANS } from '../calls/invocation-store.ts';
import { forgetUnpaid } from '../calls/keep-unpaid.ts';
import { HAS_FIGURES_DUE } from '../calls/read/call-figure-store.ts';
import { aggregateFigures } from '../calls/read/count-calls.ts';
import { collectRefunds, startHomeSettlements } from '../calls/remote/settle-home-calls.ts';
import { HAS_OVERDUE, HAS_QUEUED } from '../calls/run/queue-store.ts';
import { recoverInvocations } from '../calls/run/recover-invocations.ts';
import { failOverdue } from '../calls/run/run-invocation.ts';
import type { Backlog } from '../calls/run/run-queued.ts';
import type { PayContext } from '../calls/start/pay-and-run.ts';
import { aggregateStoredBytes, forgetContents } from '../calls/storage.ts';
import { HAS_STORAGE_CHANGES } from '../calls/storage-store.ts';
import { failUnanswered } from '../calls/turns/expire-questions.ts';
import { HAS_UNANSWERED } from '../calls/turns/turn-store.ts';
import { recordGates } from '../chain/blocks/gate-store.ts';
import { measureGates, readGates } from '../chain/blocks/gates.ts';
import { createHeadWatch, type HeadWatch } from '../chain/blocks/head-watch.ts';
import { HAS_UNSHOWN_TRANSFERS } from '../chain/blocks/transfer-point-store.ts';
import { assetNameOf, tokenKey } from '../chain/chain-info.ts';
import { HAS_OPEN_NONCES } from '../chain/transaction-store.ts';
import type { Dispatcher } from '../events/deliveries/dispatcher.ts';
import { forgetEvents } from '../events/outbox/forget-events.ts';
import { failLeftPending } from '../events/webhooks/fail-pending.ts';
import type { FileServices } from '../files/file-services.ts';
import { HAS_FILES_DUE } from '../files/file-store.ts';
import { removeFiles } from '../files/remove-files.ts';
import { createPushDispatcher, forgetPushes } from '../http/gateways/a2a/send-pushes.ts';
import type { Retention } from '../lib/retention.ts';
import type { NetworkContext } from '../network/network-context.ts';
import { startNetwork } from '../network/start-network.ts';
import { createTotalsRefresh } from '../operator/account-totals-store.ts';
import { HAS_OPEN_BILLS, HAS_UNFINISHED_PAYMENTS } from '../payments/chain-outbox/chain-payment-list-store.ts';
import { aggregateTotals } from '../payments/ledger/aggregate-totals.ts';
import { HAS_ALERTS } from '../payments/ledger/balance-alert-store.ts';
import { HAS_UNAGGREGATED_TOTALS } from '../payments/ledger/ledger-total-store.ts';
import { IS_BEHIND } from '../payments/payouts/catch-up-store.ts';
import { HAS_FOUND_PAYOUTS } from '../payments/payouts/found-payout-store.ts';
import { releaseForgottenWithdrawals } from '../payments/payouts/hold-withdrawal.ts';
import { type PayoutContext, readWallet } from '../payments/reconcile/read-payouts.ts';
import { type ReconcileContext, reconcilePayments } from '../payments/reconcile/reconcile.ts';
import { watchSettlement } from '../payments/reconcile/watch-settlement.ts';
import { HAS_CHANNELS } from '../payments/schemes/batch-settlement/chain/channel-reading-store.ts';
import { rereadChannels } from '../payments/schemes/batch-settlement/chain/reread-channels.ts';
import { bookClaims } from '../payments/schemes/batch-settlement/claims/book-claims.ts';
import type { ClaimContext } from '../payments/schemes/batch-settlement/claims/claim-context.ts';
import { actOnChannels } from '../payments/schemes/batch-settlement/claims/claimer.ts';
import { createChargeRemoval } from '../payments/schemes/batch-settlement/claims/forget-charges.ts';
import { measureChannels } from '../payments/schemes/batch-settlement/claims/measure-channels.ts';
import { forgetOldPurchases } from '../payments/schemes/exact/claim-payments.ts';
import { forgetOldStrikes } from '../payments/schemes/exact/payer-status.ts';
import { createLowBalanceWatch } from '../payments/statements/balance-alert.ts';
import { type WalletReads, watchReserves } from '../payments/statements/read-reserves.ts';
import { watchChainIndex } from '../registry/read/read-chain-index.ts';
import type { RegistryReader } from '../registry/read/read-registry.ts';
import { HAS_OPEN_WRITES } from '../registry/write/registry-write-store.ts';
import type { RegistryWriter } from '../registry/write/registry-writer.ts';
import type { NodeProcess } from '../store/queue/heartbeat.ts';
import { createSchedule, type RecurringWork, type Repeating, type Schedule } from '../store/queue/schedule.ts';
import { forgetOldChanges } from '../store/replica/forget-changes.ts';

interface RegistryJobs {
  readonly registryReader: RegistryReader;
  readonly registryWriter: RegistryWriter;
  readonly entryKeeper: EntryKeeper;
}

/** Dependencies of all background work. */
export interface JobContext
  extends PayContext,
    EndContext,
    NodeProcess,
    CheckContext,
    AgentServices,
    FollowContext,
    ReconcileContext,
    WalletReads,
    PayoutContext,
    ClaimContext,
    RegistryJobs,
    Pick<FileServices, 'pieceStores'>,
    NetworkContext {
  readonly backlog: Backlog;
  /** null: searches are by words. */
  readonly vectorFiller: VectorFiller | null;
  readonly retention: Retention;
  /** The wallet that gives feedback about this node's outcomes to the shared registry; null: feedback is off. */
  readonly feedbackGiver: string | null;
  readonly webhookDispatcher: Dispatcher;
}

/** Starts the recurring jobs: those of `every` run on one process of the node at a time, those of `here` on each. */
export function startRecurring(ctx: JobContext): Repeating[] {
  const schedule = createSchedule(ctx, () => givenOf(ctx));
  addWorkOnCalls(ctx, schedule);
  addWorkOnMoney(ctx, schedule);
  const heads = headWatchOf(ctx);
  addWorkOnNetwork(ctx, schedule, heads);
  addWorkOnRegistry(ctx, schedule, heads);
  addRemovals(ctx, schedule);
  const checks = { stop: async () => ctx.agentChecks.stop() };
  return [
    checks,
    startHomeSettlements(ctx, schedule),
    ctx.webhookDispatcher.start(schedule),
    startNetwork(ctx, schedule),
    createPushDispatcher(ctx).start(schedule),
    schedule,
  ];
}

/**
 * Starts the work on payments of a further network, apart from that of the others, so that a chain without an answer delays only its own.
 * `refresh` checks if the chain answers.
 */
export function startRecurringOn(ctx: JobContext, refresh: RecurringWork): Repeating {
  const schedule = createSchedule(ctx, () => givenOf(ctx));
  const named = (name: string) => `${name}@${assetNameOf(ctx.chain)}`;
  const ofNetwork: Pick<Schedule, 'every' | 'here'> = {
    every: (name, ...rest) => schedule.every(named(name), ...rest),
    here: (name, ...rest) => schedule.here(named(name), ...rest),
  };
  addWorkOnNetwork(ctx, ofNetwork, headWatchOf(ctx));
  ofNetwork.here('watch-network', 2000, refresh);
  ofNetwork.here('watch-gates', 10_000, async () => measureGates(ctx, await readGates(ctx, ctx.chain)));
  return schedule;
}

const givenOf = ({ clock, chain }: JobContext) => ({
  ...{ now: clock.now(), chainId: chain.chainId, token: tokenKey(chain) },
});

/** Agents and their calls. */
function addWorkOnCalls(ctx: JobContext, { every, here }: Schedule): void {
  every('check-agents', 1000, () => ctx.agentChecks.run(), { hasWork: { sql: HAS_DUE_CHECKS } });
  const filler = ctx.vectorFiller;
  // In every process: they share the work by claims.
  if (filler)
    here('make-vectors', 1000, () => filler.fill(), {
      hasWork: { sql: HAS_DUE_VECTORS, isDue: filler.isRenewalDue },
    });
  every('recompute-reputations', 2000, () => recomputeReputations(ctx), {
    hasWork: { sql: `${HAS_UNCOUNTED} or ${HAS_DUE_REPUTATIONS}` },
  });
  every('give-feedback', 2000, () => giveFeedback(ctx), { hasWork: { sql: HAS_FEEDBACK_DUE } });
  // In every process: each knows only its own lost work.
  here('recover-invocations', 2000, async () => ctx.drain.isAsked() || recoverInvocations(ctx), {
    hasWork: { sql: HAS_ORPHANS },
  });
  here('run-queued', 1000, () => ctx.backlog.pump(), {
    hasWork: { sql: HAS_QUEUED, isDue: () => ctx.backlog.isWaiting() || ctx.runner.hasWaiting() },
  });
  every('fail-overdue', 1000, () => failOverdue(ctx), { hasWork: { sql: HAS_OVERDUE } });
  every('fail-unanswered', 1000, () => failUnanswered(ctx), { hasWork: { sql: HAS_UNANSWERED } });
  every('fold-figures', 1000, () => aggregateFigures(ctx), { hasWork: { sql: HAS_FIGURES_DUE } });
  every('fold-storage', 5000, () => aggregateStoredBytes(ctx), { hasWork: { sql: HAS_STORAGE_CHANGES } });
  every('remove-files', 5000, () => removeFiles(ctx), { hasWork: { sql: HAS_FILES_DUE } });
  every('collect-refunds', 2000, () => collectRefunds(ctx), { hasWork: { sql: HAS_UNSHOWN_TRANSFERS } });
}

function addWorkOnMoney(ctx: JobContext, { every, here }: Schedule): void {
  every('fold-totals', 1000, () => aggregateTotals(ctx), { hasWork: { sql: HAS_UNAGGREGATED_TOTALS } });
  every('tell-low-balances', 2000, createLowBalanceWatch(ctx), { hasWork: { sql: HAS_ALERTS } });
  every('release-stale-holds', 60_000, () => releaseStaleHolds(ctx));
  every('release-forgotten-withdrawals', 30_000, () => releaseForgottenWithdrawals(ctx));
  every('audit-money', 10_000, () => auditMoney(ctx));
  every('refresh-account-totals', 30_000, createTotalsRefresh(ctx));
  // In every process: each reports its own figures.
  here('watch-registrar', 10_000, () => ctx.registrarGas.refresh());
  here('watch-registry', 10_000, () => watchChainIndex(ctx));
}

/** The work on payments of one network. */
function addWorkOnNetwork(ctx: JobContext, { every, here }: Pick<Schedule, 'every' | 'here'>, heads: HeadWatch): void {
  every('settle-bills', 2000, () => settleBills(ctx), { hasWork: { sql: HAS_OPEN_BILLS } });
  every('watch-reserves', 15_000, () => watchReserves(ctx));
  const hasWork = { sql: HAS_CHANNELS };
  every('claim-channels', 2000, () => ctx.channelClaims.claim('due'), { hasWork });
  every('book-claims', 15_000, () => bookClaims(ctx), { hasWork });
  every('follow-channels', 2000, () => actOnChannels(ctx), { hasWork });
  every('reread-channels', 60_000, () => rereadChannels(ctx, ctx.channelClaimSettings.minMicro), { hasWork });
  // In every process: each reports its own figures.
  here('watch-settlement', 10_000, () => watchSettlement(ctx));
  here('measure-channels', 10_000, () => measureChannels(ctx));
  const { follow } = heads;
  const payments = follow('payments', () => reconcilePayments(ctx));
  every('reconcile-payments', 2000, payments.work, {
    hasWork: { sql: `${HAS_OPEN_NONCES} or ${HAS_UNFINISHED_PAYMENTS}`, isDue: payments.isDue },
  });
  const transfers = follow('transfers', () => readWallet(ctx));
  every('read-transfers', 2000, transfers.work, {
    hasWork: { sql: `${HAS_UNSHOWN_TRANSFERS} or ${HAS_FOUND_PAYOUTS} or ${IS_BEHIND}`, isDue: transfers.isDue },
  });
}

/** Work that runs when a chain has a new head: all of one schedule share the question. */
const headWatchOf = ({ usdc, db, chain, clock }: JobContext) =>
  createHeadWatch({
    usdc,
    record: (name, block, reason) => recordGates(db, chain, [{ name, block, reason }], clock.now()),
  });

/** The work on the registry, which is on the default network. */
function addWorkOnRegistry(ctx: JobContext, { every }: Schedule, { follow }: HeadWatch): void {
  const registry = follow('registry', () => ctx.registryReader.read());
  every('read-registry', ctx.registry.pollMs, registry.work, { hasWork: { isDue: registry.isDue } });
  const writes = follow(null, async () => {
    await ctx.registryWriter.write();
    return true;
  });
  if (ctx.registrar)
    every('write-registry', 1000, writes.work, { hasWork: { sql: HAS_OPEN_WRITES, isDue: writes.isDue } });
  every('keep-entries', 60_000, () => ctx.entryKeeper.keep());
  // Every claimed token is asked about, and a sale counts only when it is safe from reorgs, after minutes on a real chain.
  every('follow-owners', Math.min(5 * ctx.registry.pollMs, 10_000), () => followOwners(ctx), {
    hasWork: { sql: HAS_SOLD },
  });
}

/** A round of removals ends after 20 seconds (lib/retention.ts): with a longer pause, a busy node would store more than it removes. */
const REMOVAL_INTERVAL_MS = 60_000;

/** On a new database there is nothing to remove yet. */
function addRemovals(ctx: JobContext, schedule: Schedule): void {
  const every = (name: string, work: RecurringWork) =>
    schedule.every(name, REMOVAL_INTERVAL_MS, work, { isFirstLater: true });
  every('forget-expired-keys', () => forgetExpiredKeys(ctx));
  every('forget-secrets', () => forgetSecrets(ctx));
  every('forget-old-entries', () => forgetOldEntries(ctx));
  every('forget-dead-keys', () => forgetDeadKeys(ctx));
  every('forget-old-sessions', () => forgetOldSessions(ctx));
  every('forget-old-purchases', () => forgetOldPurchases(ctx));
  every('forget-old-strikes', () => forgetOldStrikes(ctx));
  every('forget-types', () => forgetTypes(ctx));
  every('forget-contents', () => forgetContents(ctx));
  every('fail-left-deliveries', () => failLeftPending(ctx));
  every('forget-events', () => forgetEvents(ctx));
  every('forget-unpaid', () => forgetUnpaid(ctx));
  every('forget-pushes', () => forgetPushes(ctx));
  every('forget-windows', () => forgetWindows(ctx));
  every('forget-changes', () => forgetOldChanges(ctx));
  every('forget-charges', createChargeRemoval(ctx));
}
