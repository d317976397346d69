import { identityRegistryByChain } from '@agent-network/chain/addresses';
import { KEPT_MS, releaseLeft } from './access/idempotency/idempotency.ts';
import { createKeyWriter } from './access/idempotency/key-writer.ts';
import { createKeysInHand } from './access/idempotency/keys-in-hand.ts';
import { createFreeCalls } from './access/limits/free-calls.ts';
import { createRateLimiter } from './access/limits/rate-limiter.ts';
import { createAuthenticator } from './access/sessions/authenticate.ts';
import { createKeyWatch } from './access/sessions/key-watch.ts';
import { createAgentFinder } from './agents/alternatives/find-agent.ts';
import { createAgentChecks } from './agents/health/agent-checks.ts';
import { createOwnerProofs } from './agents/manage/verify-identity.ts';
import { createFollower } from './agents/registry-entry/follow-writes.ts';
import { createEntryKeeper } from './agents/registry-entry/keep-entries.ts';
import type { RegistrationContext } from './agents/registry-entry/register-verified.ts';
import { createTreasuryOwners } from './agents/registry-entry/token-holders.ts';
import { createListing, type HasNodeLabel } from './agents/search/listing.ts';
import { createTypeChecks } from './agents/types/type-checks.ts';
import { type ChainAccess, openChain } from './chain/chain-access.ts';
import type { ChainInfo } from './chain/chain-info.ts';
import { deepestOf } from './chain/confirmation-depth.ts';
import { createGasWatches } from './chain/gas-watch.ts';
import { createWalletReads } from './chain/outgoing-transfer-client.ts';
import { type Config, isLocalChain } from './config.ts';
import { longestCallS } from './config-call-time.ts';
import { type ContextParts, settingsOf } from './context-parts.ts';
import type { Database, HasDb } from './db/database.ts';
import { type DatabaseClock, startDatabaseClock } from './db/database-clock.ts';
import { openDatabases } from './db/open-databases.ts';
import { createWebhookDispatcher } from './events/deliveries/webhook-dispatcher.ts';
import { createLiveEvents } from './events/outbox/live-events.ts';
import type { HttpContext } from './http/request/http-context.ts';
import { createRefusalLog } from './http/request/refusal-log.ts';
import { createChallengeTries } from './identity/challenges/challenge-tries.ts';
import { localAccountOf } from './identity/local-account.ts';
import { createWalletSignatures } from './identity/wallet-signature-client.ts';
import { createRequestPayouts } from './invocations/audit/request-payouts.ts';
import { createFinisher } from './invocations/finish/finish-invocations.ts';
import { createRunner } from './invocations/places/runner.ts';
import { createSubjectReader } from './invocations/read/read-subject.ts';
import { createHomeKeys } from './invocations/remote/home-keys.ts';
import { createStorageMeter } from './invocations/retention/require-storage.ts';
import { type Backlog, createBacklog } from './invocations/run/run-queued.ts';
import { createAcceptor } from './invocations/start/accept-invocations.ts';
import { createBeginner, purchases } from './invocations/start/begin-invocations.ts';
import { createChangeHub } from './invocations/stream/change-hub.ts';
import { createChunkWriter } from './invocations/stream/record-chunks.ts';
import { createStoragePace } from './invocations/stream/storage-pace.ts';
import { createStreamPoller } from './invocations/stream/stream-poller.ts';
import type { JobContext } from './jobs.ts';
import type { HasClock } from './lib/clock.ts';
import { createMutex } from './lib/concurrency/mutex.ts';
import { createOnDemandRun } from './lib/concurrency/on-demand-run.ts';
import { createSemaphore } from './lib/concurrency/semaphore.ts';
import type { Log } from './lib/log/log.ts';
import type { Metrics } from './lib/metrics.ts';
import { isLoopbackHost } from './lib/net/guarded-fetch-address.ts';
import { createOutboundCalls } from './lib/net/outbound-calls.ts';
import { createNodeMetrics } from './metric-series.ts';
import { createTotalsReader } from './operator/read-totals.ts';
import { createSeenTreasuries } from './payments/ledger/treasury.ts';
import { createSettlementHalt } from './payments/onchain/settlement-halt.ts';
import { createReorgWatch } from './payments/reconcile/watch-reorgs.ts';
import { createSettler } from './payments/settlement/settler.ts';
import { createReservesReader } from './payments/statements/read-reserves.ts';
import { createChannels } from './payments/x402/channels/channels.ts';
import type { ClaimContext } from './payments/x402/channels/claims/claim-context.ts';
import { createClaimSimulator } from './payments/x402/channels/claims/claim-simulator-client.ts';
import { createClaimer } from './payments/x402/channels/claims/claimer.ts';
import { recoverChannels } from './payments/x402/channels/claims/recover-channels.ts';
import { createWalletFunds } from './payments/x402/channels/claims/wallet-funds.ts';
import { createPaymentChecks } from './payments/x402/payment-checks.ts';
import { createDrain, type Drain } from './queue/drain.ts';
import { type Heartbeat, startHeartbeat } from './queue/heartbeat.ts';
import { createRegistryReader } from './registry/read/read-registry.ts';
import { createRegistryClient } from './registry/read/registry-log-client.ts';
import { createTokenClient, type HasTokenClient } from './registry/read/registry-token-client.ts';
import { createRegistryTokens } from './registry/read/registry-tokens.ts';
import { createRegistryWriter } from './registry/write/registry-writer.ts';
import type { WriterContext } from './registry/write/writer-context.ts';
import { createReplica, type HasReplica } from './replica/replica.ts';

interface Processes {
  readonly heartbeat: Heartbeat;
  readonly replicaDb: Database;
  readonly databaseClock: DatabaseClock;
}

export type NodeContext = HttpContext & JobContext & Processes;

/** Spec: synchronous mode is for tasks under 30 seconds; after that the answer is the created shape. */
const SYNC_WAIT_MS = 30_000;

/** Composition root: constructs all parts of a node. Throws when the chain is not the configured one. */
export async function createContext(parts: ContextParts): Promise<NodeContext> {
  const { config, log, chainRpcUrl: rpcUrl, keys } = parts;
  const { wallet, secrets } = keys;
  const chainSettings = { ...config, isLocal: isLocalChain(config), rpcUrl, wallet: wallet.address };
  const access = await withChannels(await openChain(chainSettings), parts);
  const { chain } = access;
  const metrics = createNodeMetrics();
  const databases = openDatabases(
    { ...parts, promiseFile: config.databasePromiseFile, max: config.databaseConnections },
    { log, metrics },
  );
  const { db, replicaDb } = databases;
  const databaseClock = await startDatabaseClock({ db, log, metrics, ...(parts.ownClock && { own: parts.ownClock }) });
  const clock = parts.clock ?? databaseClock;
  const own = await startOwnWork({ db, log, clock }, parts);
  const replica = createReplica({ db: replicaDb, log, metrics }, parts);
  const ledgerTurns = createSemaphore();
  const storagePace = createStoragePace(config.storedBytesPerMinute);
  const outbound = createOutboundCalls(config);
  const base = {
    ...databases,
    log,
    clock,
    databaseClock,
    ...access,
    replica,
    ...keys,
    ...createGasWatches(keys, { ...access, db, clock, log, metrics, ...config.paymentLimits }),
    ...own,
    ...metersOf(metrics, log),
    ...outbound,
    ...accessParts(parts, { db, clock, replica }),
    homeKeys: createHomeKeys({ db, secrets, ...outbound, chain, wallet, clock, baseUrl: parts.baseUrl }),
    changeHub: createChangeHub(),
    storagePace,
    chunkWriter: createChunkWriter({ db, storagePace }),
    ledgerTurns,
    acceptor: createAcceptor({ db, clock, ledgerTurns }),
    beginner: createBeginner({ db, clock }),
    listing: createListing({ replica, nodeLabel: config.nodeLabel }),
    agentFinder: createAgentFinder({ db, replica }),
    typeChecks: createTypeChecks({ db }),
    ...paymentParts({ ...access, db, clock, log, metrics }),
    ...chainReaders(rpcUrl, chain),
    ...registryParts(config, rpcUrl, { db, log, clock, metrics, chain }),
    seenTreasuries: createSeenTreasuries({ db, replica }),
    storageMeter: createStorageMeter({ db, clock }, config.storageLimits),
    feedbackGiver: config.reputationFeedback ? (keys.registrar?.address ?? null) : null,
    ...settingsOf(config),
    ...answeringOf(parts),
    ...phaseOf(parts, own.drain),
    ...createSubjectReader({ db }),
  };
  const live = {
    streamPoller: createStreamPoller(base),
    liveEvents: createLiveEvents(base),
    keyWatch: createKeyWatch(base),
  };
  const channelWork = createChannelWork(base);
  const webhookDispatcher = createWebhookDispatcher(base);
  const finisher = createFinisher({ ...base, ...channelWork, webhookDispatcher });
  const backlog = createBacklog({ ...base, ...channelWork, finisher });
  base.runner.onRoom(() => pumpWaiting(backlog, log));
  const agentChecks = createAgentChecks(base);
  const others = { ...channelWork, ...createRegistryWork(base), ...createMoneyWork({ ...base, finisher }) };
  return { ...base, ...others, ...live, finisher, backlog, agentChecks, webhookDispatcher };
}

function pumpWaiting(backlog: Backlog, log: Log): void {
  if (backlog.isWaiting()) void backlog.pump().catch((err) => log.error({ err }, 'cannot start queued requests'));
}

/** Starts the runner of this process's work, and registers the process among the others. */
async function startOwnWork(needs: HasDb & HasClock & { log: Log }, { config, self }: ContextParts) {
  const runner = createRunner(config.placeLimits, needs);
  const invocations = () => runner.trackedIds().length;
  const drain = createDrain({ log: needs.log, noticeMs: config.drainMs, invocations });
  const heartbeat = await startHeartbeat(needs, { self: { ...self, label: config.nodeLabel }, drain });
  return { runner, drain, heartbeat, processId: () => heartbeat.processId() };
}

const phaseOf = ({ isReady, isDraining = () => false }: ContextParts, drain: Drain) => ({
  isReady,
  isDraining: () => isDraining() || drain.isAsked(),
});

/** Channels are offered where they are on and their contracts are found. */
async function withChannels(access: ChainAccess, { config, log }: ContextParts): Promise<ChainAccess> {
  const { isOn, ...terms } = config.channels;
  const fault = isOn ? await access.settlementContract.whyUnusable() : 'they are off';
  if (fault !== null) {
    if (isOn) log.warn({ fault }, 'payment channels cannot be used; calls are paid one by one');
    return { ...access, chain: { ...access.chain, channelFault: fault } };
  }
  const mostS = longestCallS(terms.withdrawDelayS, Number(deepestOf(config.confirmations)));
  return { ...access, chain: { ...access.chain, channels: { ...terms, longestCallS: mostS } } };
}

type PaymentNeeds = Parameters<typeof createPaymentChecks>[0] & Parameters<typeof createSettlementHalt>[0];

const paymentParts = (needs: PaymentNeeds) => ({
  settlementHalt: createSettlementHalt(needs),
  ...createPaymentChecks(needs),
  channels: createChannels(needs),
  purchases,
});

type MoneyNeeds = Parameters<typeof createReservesReader>[0] & Parameters<typeof createRequestPayouts>[0];

const createMoneyWork = (base: MoneyNeeds & Parameters<typeof createSettler>[0]) => ({
  settler: createSettler(base),
  reorgWatch: createReorgWatch(base),
  reserves: createReservesReader(base),
  totals: createTotalsReader(base),
  requestPayouts: createRequestPayouts(base),
});

function createChannelWork(base: ClaimContext) {
  const channelClaims = createClaimer(base);
  return {
    channelClaims,
    walletFunds: createWalletFunds(base, channelClaims),
    recoverChannels: (fromBlock: bigint) => recoverChannels(base, fromBlock),
  };
}

const metersOf = (metrics: Metrics, log: Log) => ({
  metrics,
  refusalLog: createRefusalLog({ metrics, log }),
});

function accessParts({ config, baseUrl, localWallet }: ContextParts, needs: HasDb & HasClock & HasReplica) {
  const { chainId, isExposed } = config;
  const localAccount = localAccountOf({ wallet: localWallet, chainId, isExposed, baseUrl });
  const rateLimiter = createRateLimiter(needs);
  return {
    localAccount,
    rateLimiter,
    freeCalls: createFreeCalls({ ...needs, rateLimiter }, config.freeCallsPerHour),
    authenticator: createAuthenticator({ ...needs, hasLocalAccount: localAccount !== null }),
    paymentTurns: createMutex(),
    keysInHand: createKeysInHand((keys) => releaseLeft(needs, keys)),
    keyWriter: createKeyWriter(needs, KEPT_MS),
  };
}

function createRegistryWork(base: WriterContext & RegistrationContext & HasNodeLabel & HasTokenClient) {
  const registryWriter = createRegistryWriter(base, createFollower(base));
  return {
    registryWriter,
    registryWrites: createOnDemandRun(() => registryWriter.write(), base.log),
    entryKeeper: createEntryKeeper(base),
    ownerProofs: createOwnerProofs(base),
    treasuryOwners: createTreasuryOwners(base),
  };
}

const answeringOf = ({ config, baseUrl, dashboard, checksAnswers = false, syncWaitMs }: ContextParts) => ({
  baseUrl,
  mcpPlace: {
    baseUrl,
    isLoopbackListener: isLoopbackHost(config.host),
    allowedOrigins: config.mcpAllowedOrigins,
  },
  dashboard: dashboard ?? null,
  checksAnswers,
  syncWaitMs: syncWaitMs ?? SYNC_WAIT_MS,
});

const chainReaders = (rpcUrl: string, { token, wallet }: ChainInfo) => ({
  walletSignatures: createWalletSignatures({ rpcUrl }),
  challengeTries: createChallengeTries(),
  ...createWalletReads({ rpcUrl, token, wallet }),
  claimSimulator: createClaimSimulator({ rpcUrl, from: wallet }),
});

type RegistryNeeds = Omit<Parameters<typeof createRegistryReader>[0], 'registry' | 'registryClient' | 'nodeLabel'>;

function registryParts(config: Config, rpcUrl: string, needs: RegistryNeeds) {
  const registry = {
    chainId: config.chainId,
    address: identityRegistryByChain[config.chainId].toLowerCase(),
    startBlock: config.registryStartBlock,
    isLocal: isLocalChain(config),
    pollMs: config.registryPollMs,
  };
  const parts = { ...needs, registry, registryClient: createRegistryClient({ rpcUrl, registry }) };
  return {
    registry,
    registryTokens: createRegistryTokens(parts),
    registryReader: createRegistryReader({ ...parts, nodeLabel: config.nodeLabel }),
    tokenClient: createTokenClient({ rpcUrl, registry }),
    networkRules: {
      pollMs: config.networkPollMs ?? (registry.isLocal ? 1000 : 15_000),
      refused: config.networkRefused,
    },
  };
}
