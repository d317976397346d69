import { forgetOldEntries } from './access/audit/audit.ts';
import { forgetExpiredKeys, forgetSecrets } from './access/idempotency/idempotency.ts';
import { forgetWindows } from './access/limits/forget-windows.ts';
import { forgetOldSessions } from './access/sessions/manage-sessions.ts';
import type { CheckContext } from './agents/health/check-agents.ts';
import { checkDueAgents } from './agents/health/check-agents.ts';
import type { FollowContext } from './agents/registry-entry/follow-owners.ts';
import { followOwners } from './agents/registry-entry/follow-owners.ts';
import type { EntryKeeper } from './agents/registry-entry/keep-entries.ts';
import type { HasFeedbackGiver } from './agents/reputation/give-feedback.ts';
import { giveFeedback } from './agents/reputation/give-feedback.ts';
import { recomputeReputations } from './agents/reputation/recompute-reputations.ts';
import type { HasListing } from './agents/search/listing.ts';
import type { HasWebhookDispatcher } from './events/deliveries/webhook-dispatcher.ts';
import { forgetEvents } from './events/outbox/forget-events.ts';
import { forgetPushes, startPushes } from './http/faces/a2a/send-pushes.ts';
import { auditMoney } from './invocations/audit/audit-money.ts';
import { releaseStaleHolds } from './invocations/audit/release-stale-holds.ts';
import type { EndContext } from './invocations/finish/end-invocations.ts';
import { settleBills } from './invocations/finish/settle-bills.ts';
import { collectRefunds } from './invocations/remote/collect-refunds.ts';
import { settleHomeCalls } from './invocations/remote/settle-home-calls.ts';
import { foldStoredBytes, forgetContents } from './invocations/retention/forget-contents.ts';
import { failOverdue } from './invocations/run/fail-overdue.ts';
import type { HasBacklog } from './invocations/run/run-queued.ts';
import type { PayContext } from './invocations/start/pay-and-run.ts';
import { recoverInvocations } from './invocations/start/recover-invocations.ts';
import { foldFigures } from './invocations/stats/fold-figures.ts';
import { forgetUnpaid } from './invocations/unpaid/keep-unpaid.ts';
import type { HasRetention } from './lib/retention.ts';
import type { NetworkContext } from './network/nodes/network-context.ts';
import { startNetwork } from './network/start-network.ts';
import { foldTotals } from './payments/ledger/fold-totals.ts';
import type { HasPlatformFee } from './payments/ledger/platform-fee.ts';
import { forgetOldStrikes } from './payments/onchain/payer-standing.ts';
import { releaseForgottenWithdrawals } from './payments/payouts/hold-withdrawal.ts';
import { type PayoutContext, readWallet } from './payments/reconcile/read-payouts.ts';
import type { ReconcileContext } from './payments/reconcile/reconcile.ts';
import { reconcilePayments } from './payments/reconcile/reconcile.ts';
import { watchSettlement } from './payments/reconcile/watch-settlement.ts';
import { settleOwed } from './payments/settlement/settle-owed.ts';
import type { WalletReads } from './payments/statements/read-reserves.ts';
import { watchReserves } from './payments/statements/watch-reserves.ts';
import { actOnChannels } from './payments/x402/channels/claims/act-on-channels.ts';
import { bookClaims } from './payments/x402/channels/claims/book-claims.ts';
import type { ClaimContext } from './payments/x402/channels/claims/claim-context.ts';
import type { HasChannelClaimer } from './payments/x402/channels/claims/claimer.ts';
import { forgetCharges } from './payments/x402/channels/claims/forget-charges.ts';
import { measureChannels } from './payments/x402/channels/claims/measure-channels.ts';
import { forgetOldPurchases } from './payments/x402/claim-payments.ts';
import type { HasDrain } from './queue/drain.ts';
import type { HasProcessId } from './queue/heartbeat.ts';
import type { JobHandlers } from './queue/job-types.ts';
import { type Repeating, repeatEvery, repeatHere } from './queue/repeat-every.ts';
import { watchChainIndex } from './registry/read/read-chain-index.ts';
import type { HasRegistryReader } from './registry/read/read-registry.ts';
import type { RegistryWriter } from './registry/write/registry-writer.ts';
import { forgetOldChanges } from './replica/forget-changes.ts';

interface OwnProcess extends HasProcessId, HasDrain {}

interface InvocationJobs extends PayContext, EndContext, HasBacklog, HasRetention, OwnProcess {}

interface AgentJobs extends CheckContext, FollowContext, HasFeedbackGiver {}

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

/** Job name -> use case: the background twin of http/handlers. */
export const jobHandlers = (ctx: JobContext): JobHandlers => ({
  'settle-payment': ({ paymentId }) => settleOwed(ctx, paymentId),
});

/** Starts the recurring jobs: `repeatEvery` runs on one process of the node at a time, `repeatHere` on each. */
export function startRecurring(ctx: JobContext): Repeating[] {
  return [
    ctx.webhookDispatcher.start(),
    startNetwork(ctx),
    startPushes(ctx),
    repeatEvery(ctx, 'check-agents', 1000, () => checkDueAgents(ctx)),
    repeatEvery(ctx, 'recompute-reputations', 2000, () => recomputeReputations(ctx)),
    repeatEvery(ctx, 'give-feedback', 2000, () => giveFeedback(ctx)),
    // In every process: each knows only its own lost work.
    repeatHere(ctx, 'recover-invocations', 2000, async () => {
      if (!ctx.drain.isAsked()) await recoverInvocations(ctx);
    }),
    repeatHere(ctx, 'run-queued', 1000, () => ctx.backlog.pump()),
    repeatEvery(ctx, 'fail-overdue', 1000, () => failOverdue(ctx)),
    repeatEvery(ctx, 'forget-expired-keys', 600_000, () => forgetExpiredKeys(ctx)),
    repeatEvery(ctx, 'forget-secrets', 60_000, () => forgetSecrets(ctx)),
    repeatEvery(ctx, 'forget-old-entries', 3_600_000, () => forgetOldEntries(ctx)),
    repeatEvery(ctx, 'forget-old-sessions', 3_600_000, () => forgetOldSessions(ctx)),
    repeatEvery(ctx, 'forget-old-purchases', 3_600_000, () => forgetOldPurchases(ctx)),
    repeatEvery(ctx, 'forget-old-strikes', 3_600_000, () => forgetOldStrikes(ctx)),
    repeatEvery(ctx, 'forget-contents', 60_000, () => forgetContents(ctx)),
    repeatEvery(ctx, 'forget-events', 60_000, () => forgetEvents(ctx)),
    repeatEvery(ctx, 'forget-unpaid', 60_000, () => forgetUnpaid(ctx)),
    repeatEvery(ctx, 'forget-pushes', 3_600_000, () => forgetPushes(ctx)),
    repeatEvery(ctx, 'forget-windows', 3_600_000, () => forgetWindows(ctx)),
    repeatEvery(ctx, 'forget-changes', 60_000, () => forgetOldChanges(ctx)),
    repeatEvery(ctx, 'fold-storage', 5000, () => foldStoredBytes(ctx)),
    repeatEvery(ctx, 'fold-figures', 1000, () => foldFigures(ctx)),
    repeatEvery(ctx, 'release-stale-holds', 60_000, () => releaseStaleHolds(ctx)),
    repeatEvery(ctx, 'release-forgotten-withdrawals', 30_000, () => releaseForgottenWithdrawals(ctx)),
    repeatEvery(ctx, 'audit-money', 10_000, () => auditMoney(ctx)),
    repeatEvery(ctx, 'watch-reserves', 15_000, () => watchReserves(ctx)),
    repeatEvery(ctx, 'fold-totals', 1000, () => foldTotals(ctx)),
    repeatEvery(ctx, 'reconcile-payments', 2000, () => reconcilePayments(ctx)),
    // In every process: each reports its own figures.
    repeatHere(ctx, 'watch-settlement', 10_000, () => watchSettlement(ctx)),
    repeatEvery(ctx, 'claim-channels', 2000, () => ctx.channelClaims.claim('due')),
    repeatEvery(ctx, 'book-claims', 15_000, () => bookClaims(ctx)),
    repeatEvery(ctx, 'forget-charges', 3_600_000, () => forgetCharges(ctx)),
    // In every process: each reports its own figures.
    repeatHere(ctx, 'measure-channels', 10_000, () => measureChannels(ctx)),
    repeatEvery(ctx, 'settle-bills', 2000, () => settleBills(ctx)),
    repeatEvery(ctx, 'read-transfers', 2000, () => readWallet(ctx)),
    repeatEvery(ctx, 'follow-channels', 2000, () => actOnChannels(ctx)),
    repeatEvery(ctx, 'collect-refunds', 2000, () => collectRefunds(ctx)),
    repeatEvery(ctx, 'settle-home-calls', 2000, () => settleHomeCalls(ctx)),
    repeatEvery(ctx, 'read-registry', ctx.registry.pollMs, () => ctx.registryReader.read()),
    repeatEvery(ctx, 'write-registry', 1000, () => ctx.registryWriter.write()),
    repeatEvery(ctx, 'keep-entries', 60_000, () => ctx.entryKeeper.keep()),
    repeatHere(ctx, 'watch-registrar', 10_000, () => ctx.registrarGas.refresh()),
    repeatEvery(ctx, 'follow-owners', 1000, () => followOwners(ctx)),
    repeatHere(ctx, 'watch-registry', 10_000, () => watchChainIndex(ctx)),
  ];
}
