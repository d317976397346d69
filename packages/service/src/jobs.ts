import { forgetOldEntries } from './access/audit/audit.ts';
import { forgetExpiredKeys, forgetSecrets } from './access/idempotency/idempotency.ts';
import { forgetDeadKeys } from './access/keys/forget-dead-keys.ts';
import { forgetWindows } from './access/limits/forget-windows.ts';
import { forgetOldSessions } from './access/sessions/manage-sessions.ts';
import { HAS_DUE_CHECKS } from './agents/agent-store.ts';
import type { HasAgentChecks } from './agents/health/agent-checks.ts';
import type { CheckContext } from './agents/health/check-agents.ts';
import { HAS_SOLD } from './agents/registry-entry/agent-token-store.ts';
import type { FollowContext } from './agents/registry-entry/follow-owners.ts';
import { followOwners } from './agents/registry-entry/follow-owners.ts';
import type { EntryKeeper } from './agents/registry-entry/keep-entries.ts';
import { HAS_FEEDBACK_DUE } from './agents/reputation/feedback-store.ts';
import type { HasFeedbackGiver } from './agents/reputation/give-feedback.ts';
import { giveFeedback } from './agents/reputation/give-feedback.ts';
import { HAS_UNCOUNTED } from './agents/reputation/outcome-store.ts';
import { recomputeReputations } from './agents/reputation/recompute-reputations.ts';
import { HAS_DUE_REPUTATIONS } from './agents/reputation/reputation-store.ts';
import type { HasListing } from './agents/search/listing.ts';
import { forgetTypes } from './agents/types/declare-types.ts';
import { noteGates } from './chain/gates/gate-store.ts';
import { createHeadWatch } from './chain/head-watch.ts';
import { HAS_OPEN_NONCES } from './chain/transaction-store.ts';
import { HAS_UNSHOWN_TRANSFERS } from './chain/transfer-point-store.ts';
import type { HasWebhookDispatcher } from './events/deliveries/webhook-dispatcher.ts';
import { forgetEvents } from './events/outbox/forget-events.ts';
import { failLeftPending } from './events/webhooks/fail-pending.ts';
import { createPushDispatcher, forgetPushes } from './http/faces/a2a/send-pushes.ts';
import { auditMoney } from './invocations/audit/audit-money.ts';
import { releaseStaleHolds } from './invocations/audit/release-stale-holds.ts';
import type { EndContext } from './invocations/finish/end-invocations.ts';
import { settleBills } from './invocations/finish/settle-bills.ts';
import { HAS_ORPHANS } from './invocations/invocation-store.ts';
import { collectRefunds } from './invocations/remote/collect-refunds.ts';
import { startHomeSettlements } from './invocations/remote/settle-home-calls.ts';
import { foldStoredBytes, forgetContents } from './invocations/retention/forget-contents.ts';
import { HAS_STORAGE_CHANGES } from './invocations/retention/storage-store.ts';
import { failOverdue } from './invocations/run/fail-overdue.ts';
import { HAS_OVERDUE, HAS_QUEUED } from './invocations/run/queue-store.ts';
import type { HasBacklog } from './invocations/run/run-queued.ts';
import type { PayContext } from './invocations/start/pay-and-run.ts';
import { recoverInvocations } from './invocations/start/recover-invocations.ts';
import { HAS_FIGURES_DUE } from './invocations/stats/call-figure-store.ts';
import { foldFigures } from './invocations/stats/fold-figures.ts';
import { forgetUnpaid } from './invocations/unpaid/keep-unpaid.ts';
import type { HasRetention } from './lib/retention.ts';
import type { NetworkContext } from './network/nodes/network-context.ts';
import { startNetwork } from './network/start-network.ts';
import { foldTotals } from './payments/ledger/fold-totals.ts';
import { HAS_UNFOLDED_TOTALS } from './payments/ledger/ledger-total-store.ts';
import type { HasPlatformFee } from './payments/ledger/platform-fee.ts';
import { HAS_OPEN_BILLS, HAS_UNFINISHED_PAYMENTS } from './payments/onchain/chain-payment-list-store.ts';
import { forgetOldStrikes } from './payments/onchain/payers/payer-standing.ts';
import { IS_BEHIND } from './payments/payouts/catch-up-store.ts';
import { HAS_FOUND_PAYOUTS } from './payments/payouts/found-payout-store.ts';
import { releaseForgottenWithdrawals } from './payments/payouts/hold-withdrawal.ts';
import { type PayoutContext, readWallet } from './payments/reconcile/read-payouts.ts';
import type { ReconcileContext } from './payments/reconcile/reconcile.ts';
import { reconcilePayments } from './payments/reconcile/reconcile.ts';
import { watchSettlement } from './payments/reconcile/watch-settlement.ts';
import type { WalletReads } from './payments/statements/read-reserves.ts';
import { watchReserves } from './payments/statements/watch-reserves.ts';
import { HAS_CHANNELS } from './payments/x402/channels/chain/channel-reading-store.ts';
import { rereadChannels } from './payments/x402/channels/chain/reread-channels.ts';
import { actOnChannels } from './payments/x402/channels/claims/act-on-channels.ts';
import { bookClaims } from './payments/x402/channels/claims/book-claims.ts';
import type { ClaimContext } from './payments/x402/channels/claims/claim-context.ts';
import type { HasChannelClaimer } from './payments/x402/channels/claims/claimer.ts';
import { createChargeRemoval } from './payments/x402/channels/claims/forget-charges.ts';
import { measureChannels } from './payments/x402/channels/claims/measure-channels.ts';
import { forgetOldPurchases } from './payments/x402/claim-payments.ts';
import type { HasDrain } from './queue/drain.ts';
import type { HasProcessId } from './queue/heartbeat.ts';
import { createSchedule, type RecurringWork, type Repeating, type Schedule } from './queue/schedule.ts';
import { watchChainIndex } from './registry/read/read-chain-index.ts';
import type { HasRegistryReader } from './registry/read/read-registry.ts';
import { HAS_OPEN_WRITES } from './registry/write/registry-write-store.ts';
import type { RegistryWriter } from './registry/write/registry-writer.ts';
import { forgetOldChanges } from './replica/forget-changes.ts';

interface OwnProcess extends HasProcessId, HasDrain {}

interface InvocationJobs extends PayContext, EndContext, HasBacklog, HasRetention, OwnProcess {}

interface AgentJobs extends CheckContext, HasAgentChecks, FollowContext, HasFeedbackGiver {}

interface MoneyJobs extends ReconcileContext, WalletReads, PayoutContext, HasPlatformFee {}

interface ChannelJobs extends ClaimContext, HasChannelClaimer {}

interface RegistryJobs extends HasRegistryReader {
  readonly registryWriter: RegistryWriter;
  readonly entryKeeper: EntryKeeper;
}

/** Starts and stops deliveries to webhooks; follows other nodes. */
interface RelayJobs extends HasWebhookDispatcher, NetworkContext, HasListing {}

interface ChannelWork extends ChannelJobs, RegistryJobs, RelayJobs {}

/** Dependencies of all background work. */
export interface JobContext extends InvocationJobs, AgentJobs, MoneyJobs, ChannelWork {}

/** Starts the recurring jobs: those of `every` run on one process of the node at a time, those of `here` on each. */
export function startRecurring(ctx: JobContext): Repeating[] {
  const schedule = createSchedule(ctx, () => ({ now: ctx.clock.now(), chainId: ctx.chain.chainId }));
  addWorkOnCalls(ctx, schedule);
  addWorkOnMoney(ctx, schedule);
  addWorkOnTheChain(ctx, schedule);
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

/** Agents and their calls. */
function addWorkOnCalls(ctx: JobContext, { every, here }: Schedule): void {
  every('check-agents', 1000, () => ctx.agentChecks.run(), { look: { sql: HAS_DUE_CHECKS } });
  every('recompute-reputations', 2000, () => recomputeReputations(ctx), {
    look: { sql: `${HAS_UNCOUNTED} or ${HAS_DUE_REPUTATIONS}` },
  });
  every('give-feedback', 2000, () => giveFeedback(ctx), { look: { sql: HAS_FEEDBACK_DUE } });
  // In every process: each knows only its own lost work.
  here('recover-invocations', 2000, async () => ctx.drain.isAsked() || recoverInvocations(ctx), {
    look: { sql: HAS_ORPHANS },
  });
  here('run-queued', 1000, () => ctx.backlog.pump(), {
    look: { sql: HAS_QUEUED, isDue: () => ctx.backlog.isWaiting() || ctx.runner.hasWaiting() },
  });
  every('fail-overdue', 1000, () => failOverdue(ctx), { look: { sql: HAS_OVERDUE } });
  every('fold-figures', 1000, () => foldFigures(ctx), { look: { sql: HAS_FIGURES_DUE } });
  every('fold-storage', 5000, () => foldStoredBytes(ctx), { look: { sql: HAS_STORAGE_CHANGES } });
  every('collect-refunds', 2000, () => collectRefunds(ctx), { look: { sql: HAS_UNSHOWN_TRANSFERS } });
}

function addWorkOnMoney(ctx: JobContext, { every, here }: Schedule): void {
  every('fold-totals', 1000, () => foldTotals(ctx), { look: { sql: HAS_UNFOLDED_TOTALS } });
  every('settle-bills', 2000, () => settleBills(ctx), { look: { sql: HAS_OPEN_BILLS } });
  every('release-stale-holds', 60_000, () => releaseStaleHolds(ctx));
  every('release-forgotten-withdrawals', 30_000, () => releaseForgottenWithdrawals(ctx));
  every('audit-money', 10_000, () => auditMoney(ctx));
  every('watch-reserves', 15_000, () => watchReserves(ctx));
  const look = { sql: HAS_CHANNELS };
  every('claim-channels', 2000, () => ctx.channelClaims.claim('due'), { look });
  every('book-claims', 15_000, () => bookClaims(ctx), { look });
  every('follow-channels', 2000, () => actOnChannels(ctx), { look });
  every('reread-channels', 60_000, () => rereadChannels(ctx, ctx.channelClaimSettings.minMicro), { look });
  // In every process: each reports its own figures.
  here('watch-settlement', 10_000, () => watchSettlement(ctx));
  here('measure-channels', 10_000, () => measureChannels(ctx));
  here('watch-registrar', 10_000, () => ctx.registrarGas.refresh());
  here('watch-registry', 10_000, () => watchChainIndex(ctx));
}

/** Adds the jobs that run when the chain has a new head. */
function addWorkOnTheChain(ctx: JobContext, { every }: Schedule): void {
  const { follow } = createHeadWatch({
    usdc: ctx.usdc,
    note: (name, block, reason) => noteGates(ctx.db, ctx.chain.chainId, [{ name, block, reason }], ctx.clock.now()),
  });
  const payments = follow('payments', () => reconcilePayments(ctx));
  every('reconcile-payments', 2000, payments.work, {
    look: { sql: `${HAS_OPEN_NONCES} or ${HAS_UNFINISHED_PAYMENTS}`, isDue: payments.isDue },
  });
  const transfers = follow('transfers', () => readWallet(ctx));
  every('read-transfers', 2000, transfers.work, {
    look: { sql: `${HAS_UNSHOWN_TRANSFERS} or ${HAS_FOUND_PAYOUTS} or ${IS_BEHIND}`, isDue: transfers.isDue },
  });
  const registry = follow('registry', () => ctx.registryReader.read());
  every('read-registry', ctx.registry.pollMs, registry.work, { look: { isDue: registry.isDue } });
  const writes = follow(null, async () => {
    await ctx.registryWriter.write();
    return true;
  });
  if (ctx.registrar)
    every('write-registry', 1000, writes.work, { look: { sql: HAS_OPEN_WRITES, isDue: writes.isDue } });
  every('keep-entries', 60_000, () => ctx.entryKeeper.keep());
  // Every claimed token is asked about, and a sale counts only when it is safe from reorgs, after minutes on a real chain.
  every('follow-owners', Math.min(5 * ctx.registry.pollMs, 10_000), () => followOwners(ctx), {
    look: { sql: HAS_SOLD },
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
