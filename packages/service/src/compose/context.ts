import { identityRegistryByChain } from '@agent-network/chain/addresses';
import { failureReasons } from '@agent-network/contracts/invocations/invocations';
import { createHeldKeys } from '../accounts/idempotency/held-keys.ts';
import { KEPT_MS, releaseLeft } from '../accounts/idempotency/idempotency.ts';
import { createKeyWriter } from '../accounts/idempotency/key-writer.ts';
import { createAuthenticator } from '../accounts/keys/authenticate.ts';
import { createRevocations } from '../accounts/keys/revocations.ts';
import { createFreeCalls } from '../accounts/limits/free-calls.ts';
import { createRateLimiter } from '../accounts/limits/rate-limiter.ts';
import { createChallengeTries } from '../accounts/proofs/prove-wallet.ts';
import { localAccountOf } from '../accounts/proofs/sign-in.ts';
import { createWalletSignatures } from '../accounts/proofs/wallet-signature-client.ts';
import { createAgentChecks } from '../agents/health/agent-checks.ts';
import { createTypeChecks } from '../agents/listing/type-checks.ts';
import { createOwnerProofs } from '../agents/listing/verify-identity.ts';
import { chooseModel } from '../agents/meaning/choose-model.ts';
import { createVectorFiller } from '../agents/meaning/fill-vectors.ts';
import { createMeaning } from '../agents/meaning/meaning.ts';
import { createFollower } from '../agents/onchain/follow-writes.ts';
import { createEntryKeeper } from '../agents/onchain/keep-entries.ts';
import type { RegistrationContext } from '../agents/onchain/register-verified.ts';
import { createTreasuryOwners } from '../agents/onchain/token-holders.ts';
import { createAgentFinder } from '../agents/search/find-agent.ts';
import { createListing } from '../agents/search/listing.ts';
import { createFinisher } from '../calls/finish/finish-invocations.ts';
import { contradictionKinds } from '../calls/finish/money-audit-store.ts';
import { createSteadyPairs } from '../calls/pricing/agreed-price.ts';
import { createAnswerRoom } from '../calls/protocols/answer-room.ts';
import { createSubjectReader } from '../calls/read/read-subject.ts';
import { createHomeKeys } from '../calls/remote/home-keys.ts';
import { type Backlog, createBacklog } from '../calls/run/run-queued.ts';
import { createRunner } from '../calls/run/runner.ts';
import { createAcceptor } from '../calls/start/accept-invocations.ts';
import { createBeginner, purchases } from '../calls/start/pay-and-run.ts';
import { createStorageMeter, createStoragePace } from '../calls/storage.ts';
import { createChangeHub } from '../calls/stream/change-hub.ts';
import { createChunkWriter } from '../calls/stream/record-chunks.ts';
import { createStreamPoller } from '../calls/stream/stream-poller.ts';
import { openChain } from '../chain/chain-access.ts';
import { createGasWatches } from '../chain/gas-watch.ts';
import type { NodeKeys } from '../chain/keys/node-keys.ts';
import { readSignatureEngine } from '../chain/keys/signature-engine.ts';
import type { ClosedNetwork } from '../chain/networks.ts';
import type { Config } from '../config/config.ts';
import { isLocalChain } from '../config/networks.ts';
import type { SettingInForce } from '../config/settings.ts';
import { createWebhookDispatcher } from '../events/deliveries/webhook-dispatcher.ts';
import { createLiveEvents } from '../events/outbox/live-events.ts';
import { createPieceStores } from '../files/piece-stores.ts';
import { createUploadRoom } from '../files/upload-room.ts';
import { ranks } from '../http/admission/request-kind.ts';
import type { HttpContext } from '../http/request/http-context.ts';
import { createRefusalLog } from '../http/request/refusal-log.ts';
import type { DashboardBuild } from '../http/site/dashboard-build.ts';
import type { Clock } from '../lib/clock.ts';
import { createMutex } from '../lib/concurrency/mutex.ts';
import { createOnDemandRun } from '../lib/concurrency/on-demand-run.ts';
import { createSemaphore } from '../lib/concurrency/semaphore.ts';
import { cachedFlight } from '../lib/concurrency/single-flight.ts';
import { createMetrics, type Metrics } from '../lib/metrics.ts';
import { isLoopbackHost } from '../lib/net/guarded-fetch-address.ts';
import { createOutboundCalls } from '../lib/net/outbound-calls.ts';
import type { Log } from '../lib/telemetry/log.ts';
import { reasons as ignoredReasons } from '../network/entry.ts';
import { createIgnoredLog } from '../network/ignored-log.ts';
import { createTotalsReader } from '../operator/read-totals.ts';
import { createSeenTreasuries } from '../payments/ledger/treasury.ts';
import { channelRefusalText } from '../payments/schemes/batch-settlement/channel-refusal.ts';
import { createChannels } from '../payments/schemes/batch-settlement/channels.ts';
import { createKeyTurns } from '../payments/settlement/settler.ts';
import { readNetworks } from '../payments/statements/read-networks.ts';
import { createRegistryReader } from '../registry/read/read-registry.ts';
import { createRegistryClient } from '../registry/read/registry-log-client.ts';
import { createTokenClient } from '../registry/read/registry-token-client.ts';
import { createRegistryTokens } from '../registry/read/registry-tokens.ts';
import { createRegistryWriter } from '../registry/write/registry-writer.ts';
import type { WriterContext } from '../registry/write/writer-context.ts';
import type { Database, Store } from '../store/database.ts';
import { type DatabaseClock, startDatabaseClock } from '../store/database-clock.ts';
import { openDatabases } from '../store/open-databases.ts';
import type { PrimaryGate } from '../store/primary/primary-gate.ts';
import { createDrain, type Drain } from '../store/queue/drain.ts';
import { type Heartbeat, startHeartbeat } from '../store/queue/heartbeat.ts';
import type { ProcessSelf } from '../store/queue/process-store.ts';
import { createReplica, type Replica } from '../store/replica/replica.ts';
import type { JobContext } from './jobs.ts';
import {
  createChainReaders,
  createChannelWork,
  createMoneyWork,
  createPaymentParts,
  type NodeNetwork,
  networkOf,
  withChannels,
} from './network-parts.ts';

interface Processes {
  readonly heartbeat: Heartbeat;
  readonly replicaDb: Database;
  readonly databaseClock: DatabaseClock;
}

interface NodeNetworks {
  readonly networks: NodeNetwork[];
  readonly closedNetworks: ClosedNetwork[];
}

export type NodeContext = NodeNetworks & HttpContext & JobContext & Processes & Pick<NodeNetwork, 'keyTurns'>;

/** Spec: synchronous mode is for tasks under 30 seconds; after that the answer is the created shape. */
const SYNC_WAIT_MS = 30_000;

/** Composition root: constructs all parts of a node. Throws when the chain is not the configured one. */
export async function createContext(parts: ContextParts): Promise<NodeContext> {
  const { config, log, chainRpcUrl: rpcUrl, keys } = parts;
  const { wallet, secrets } = keys;
  const chainSettings = { ...config, isLocal: isLocalChain(config), isDefault: true, rpcUrl, wallet: wallet.address };
  const access = await withChannels(await openChain(chainSettings), config.channels, log);
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
    ...contentPartsOf(parts, { db, clock }),
    ledgerTurns,
    acceptor: createAcceptor({ db, clock, ledgerTurns }),
    beginner: createBeginner({ db, clock }),
    ...searchParts(config, { replica, db, clock, log }),
    agentFinder: createAgentFinder({ db, replica }),
    steadyPairs: createSteadyPairs(),
    dueAnswers: new Map(),
    typeChecks: createTypeChecks({ db }),
    ...chainParts(rpcUrl, { ...access, db, clock, log, metrics }),
    ...registryParts(config, rpcUrl, { db, log, clock, metrics, chain }),
    seenTreasuries: createSeenTreasuries({ db, replica }),
    feedbackGiver: config.reputationFeedback ? (keys.registrar?.address ?? null) : null,
    ...settingsOf(config),
    ...answeringOf(parts),
    ...phaseOf(parts, own.drain),
    ...createSubjectReader({ db }),
  };
  const live = {
    streamPoller: createStreamPoller(base),
    liveEvents: createLiveEvents(base),
    revocations: createRevocations(base),
  };
  const channelWork = createChannelWork(base);
  const webhookDispatcher = createWebhookDispatcher(base);
  const finisher = createFinisher({ ...base, ...channelWork, webhookDispatcher });
  const backlog = createBacklog({ ...base, ...channelWork, finisher, webhookDispatcher });
  base.runner.onRoom(() => pumpWaiting(backlog, log));
  const agentChecks = createAgentChecks(base);
  const moneyWork = createMoneyWork({ ...base, finisher }, createKeyTurns(base.senders.length));
  const others = { ...channelWork, ...createRegistryWork(base), ...moneyWork, totals: createTotalsReader(base) };
  const networksReader = openDefault({ ...base, ...others });
  return { ...base, ...others, networksReader, ...live, finisher, backlog, agentChecks, webhookDispatcher };
}

/** The default network is the first; returns the reader of all. */
function openDefault(ctx: Parameters<typeof networkOf>[0] & Parameters<typeof readNetworks>[0] & NodeNetworks) {
  ctx.networks.push(networkOf(ctx));
  return cachedFlight(1000, () => readNetworks(ctx));
}

const chainParts = (rpcUrl: string, needs: Parameters<typeof createPaymentParts>[0]) => ({
  networks: [] as NodeNetwork[],
  closedNetworks: [] as ClosedNetwork[],
  ...createPaymentParts(needs),
  purchases,
  channels: createChannels(needs),
  ...createChainReaders(rpcUrl, needs.chain),
  walletSignatures: createWalletSignatures({ rpcUrl }),
  challengeTries: createChallengeTries(),
});

function pumpWaiting(backlog: Backlog, log: Log): void {
  if (backlog.isWaiting()) void backlog.pump().catch((err) => log.error({ err }, 'cannot start queued requests'));
}

/** Starts the runner of this process's work, and registers the process among the others. */
async function startOwnWork(needs: Store & { log: Log }, { config, self }: ContextParts) {
  const runner = createRunner(config.slotLimits, needs);
  const invocations = () => runner.trackedIds().length;
  const drain = createDrain({ log: needs.log, noticeMs: config.drainMs, invocations });
  const heartbeat = await startHeartbeat(needs, { self: { ...self, label: config.nodeLabel }, drain });
  return { runner, drain, heartbeat, processId: () => heartbeat.processId() };
}

const phaseOf = ({ isReady, isDraining = () => false }: ContextParts, drain: Drain) => ({
  isReady,
  isDraining: () => isDraining() || drain.isAsked(),
});

/** Stored contents: of requests, streams and files. */
function contentPartsOf({ config, baseUrl }: ContextParts, needs: Store) {
  const storagePace = createStoragePace(config.storedBytesPerMinute);
  return {
    storagePace,
    chunkWriter: createChunkWriter({ ...needs, storagePace }),
    storageMeter: createStorageMeter(needs, config.storageLimits),
    pieceStores: createPieceStores(config, needs),
    uploadRoom: createUploadRoom(config.uploadBytesPerMinute),
    answerRoom: createAnswerRoom(),
    filesBaseUrl: config.filesBaseUrl ?? baseUrl,
  };
}

const metersOf = (metrics: Metrics, log: Log) => ({
  metrics,
  refusalLog: createRefusalLog({ metrics, log }),
});

function accessParts({ config, baseUrl, localWallet }: ContextParts, needs: Store & { readonly replica: Replica }) {
  const { chainId, isExposed } = config;
  const localAccount = localAccountOf({ wallet: localWallet, chainId, isExposed, baseUrl });
  const rateLimiter = createRateLimiter(needs);
  return {
    localAccount,
    rateLimiter,
    freeCalls: createFreeCalls({ ...needs, rateLimiter }, config.freeCallsPerHour),
    authenticator: createAuthenticator({ ...needs, hasLocalAccount: localAccount !== null }),
    paymentTurns: createMutex(),
    heldKeys: createHeldKeys((keys) => releaseLeft(needs, keys)),
    keyWriter: createKeyWriter(needs, KEPT_MS),
  };
}

function createRegistryWork(base: WriterContext & RegistrationContext & { readonly nodeLabel: string }) {
  const registryWriter = createRegistryWriter(base, createFollower(base));
  return {
    registryWriter,
    registryWrites: createOnDemandRun(() => registryWriter.write(), base.log),
    entryKeeper: createEntryKeeper(base),
    ownerProofs: createOwnerProofs(base),
    treasuryOwners: createTreasuryOwners(base),
  };
}

const answeringOf = ({ config, baseUrl, dashboard, settings, checksAnswers = false, syncWaitMs }: ContextParts) => ({
  baseUrl,
  settings: settings ?? [],
  mcpPlace: {
    baseUrl,
    isLoopbackListener: isLoopbackHost(config.host),
    allowedOrigins: config.mcpAllowedOrigins,
  },
  dashboard: dashboard ?? null,
  checksAnswers,
  syncWaitMs: syncWaitMs ?? SYNC_WAIT_MS,
});

function searchParts(
  { nodeLabel, searchSettings }: Config,
  needs: Store & { readonly replica: Replica; readonly log: Log },
) {
  const model = chooseModel(searchSettings, needs.log);
  const listing = createListing({ ...needs, nodeLabel, model: model?.id ?? null });
  const vectorFiller = model && createVectorFiller(needs, model);
  return { listing, vectorFiller, meaning: createMeaning({ ...needs, listing }, model) };
}

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
    ignoredLog: createIgnoredLog(needs.log),
  };
}

/** Parts from which a node is constructed: settings, addresses, keys, and replacements by tests. */
export interface ContextParts {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly gate: PrimaryGate;
  readonly chainRpcUrl: string;
  readonly baseUrl: string;
  readonly keys: NodeKeys;
  /** The wallet of local mode's own account; null outside local mode. */
  readonly localWallet: string | null;
  readonly log: Log;
  readonly isReady: () => boolean;
  /** Facts that this process announces to the others, besides the label of the node. */
  readonly self?: Omit<ProcessSelf, 'label'>;
  /** True once the process is stopping. Default: never. */
  readonly isDraining?: () => boolean;
  /** Default: the time of the database. */
  readonly clock?: Clock;
  /** This machine's clock; default: the system's. */
  readonly ownClock?: Clock;
  readonly checksAnswers?: boolean;
  readonly syncWaitMs?: number;
  readonly maxAgeMs?: number;
  readonly dashboard?: DashboardBuild;
  /** The settings in force, for operators. Default: none are shown. */
  readonly settings?: readonly SettingInForce[];
}

/** Settings that use cases read without conversion. */
const settingsOf = (config: Config) => ({
  slotLimits: config.slotLimits,
  retention: config.retention,
  transferDepthBlocks: config.transferDepthBlocks,
  planLimits: config.planLimits,
  planCaps: config.planCaps,
  storageLimits: config.storageLimits,
  maxFileBytes: config.maxFileBytes,
  signInsPerHour: config.signInsPerHour,
  keylessPerHour: config.keylessPerHour,
  gateways: config.gateways,
  documentsPerHour: config.documentsPerHour,
  documentBytesPerMinute: config.documentBytesPerMinute,
  answerBytesPerMinute: config.answerBytesPerMinute,
  trustedProxies: config.trustedProxies,
  platformFeeBps: config.platformFeeBps,
  paymentLimits: config.paymentLimits,
  faucetSettings: config.faucetSettings,
  newKeyPerCallMicro: config.newKeyPerCallMicro,
  channelClaimSettings: config.channelClaimSettings,
  nodeLabel: config.nodeLabel,
  operatorLinks: config.operatorLinks,
  signatureEngine: readSignatureEngine(),
  keyMode: config.chainId === 8453 ? ('live' as const) : ('test' as const),
});

/** Reasons to refuse a payment by channel, besides those of the scheme. */
const otherChannelRefusals = [
  'malformed',
  'unsupported_scheme',
  'invalid_offer',
  'used_for_another_request',
  'refunded_too_often',
];

/**
 * Creates the metrics, with every counter of known labels at 0: so a rate or an alert is 0 instead of missing, and the first count shows as
 * a rise. Counters of recurring jobs are created with the jobs.
 */
export function createNodeMetrics(): Metrics {
  const metrics = createMetrics();
  for (const status of ['completed', 'cancelled'] as const) metrics.invocationsEnded.inc({ status, reason: '' }, 0);
  for (const reason of failureReasons) metrics.invocationsEnded.inc({ status: 'failed', reason }, 0);
  for (const way of ['treasury', 'channel', 'on_chain', 'credited'] as const)
    metrics.invocationsRefunded.inc({ labels: { way }, value: 0 });
  for (const outcome of ['settled', 'failed', 'unknown'] as const) metrics.settlements.inc({ outcome }, 0);
  for (const kind of [...contradictionKinds, 'stale_hold']) metrics.moneyContradictions.inc({ kind }, 0);
  for (const reason of [...Object.keys(channelRefusalText), ...otherChannelRefusals])
    metrics.channelRefusals.inc({ reason }, 0);
  for (const outcome of ['sent', 'done', 'failed', 'refused']) metrics.channelClaims.inc({ outcome }, 0);
  for (const kind of ['registered', 'uri', 'owner', 'wallet', 'metadata', 'malformed', 'upgraded'])
    metrics.registryLogs.inc({ kind }, 0);
  for (const reason of ignoredReasons) metrics.networkIgnored.inc({ reason }, 0);
  for (const reason of [...ignoredReasons, 'endless']) metrics.networkFeedFailures.inc({ reason }, 0);
  for (const kind of ['unauthorized', 'forbidden'] as const) metrics.requestsRefused.inc({ kind }, 0);
  for (const reason of ['queue_time', 'full', 'deadline'] as const)
    for (const priority of ranks) metrics.requestsShed.inc({ reason, priority }, 0);
  metrics.requestsShed.inc({ reason: 'database', priority: '' }, 0);
  // A node that has not compared since its start, as the chain is away, is late like one that has.
  metrics.reservesChecked.setToCurrentTime();
  // A series from 0 to the losses of years would be a rise at every start.
  metrics.booksLoss.reset();
  return metrics;
}
