import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { hearCancellations } from './calls/run/cancel-invocation.ts';
import { handBackInvocations, recoverInvocations } from './calls/run/recover-invocations.ts';
import { tokenKey } from './chain/chain-info.ts';
import { createNodeKeys } from './chain/keys/node-keys.ts';
import { createApp } from './compose/app.ts';
import { createContext, type NodeContext } from './compose/context.ts';
import { startRecurring } from './compose/jobs.ts';
import type { LocalData } from './compose/local/local-data.ts';
import { type LocalPlan, startLocalParts } from './compose/local/local-parts.ts';
import { startNetworks } from './compose/networks.ts';
import { startSteps } from './compose/start-steps.ts';
import { reportSignatureEngine, warnOfReach } from './compose/start-warnings.ts';
import type { Config } from './config/config.ts';
import type { ConfiguredSecrets } from './config/keys.ts';
import type { NetworkSettings } from './config/networks.ts';
import type { SettingInForce } from './config/settings.ts';
import { createAdmission } from './http/admission/admission.ts';
import { listen } from './http/admission/listen.ts';
import type { DashboardBuild } from './http/site/dashboard-build.ts';
import type { Clock } from './lib/clock.ts';
import { armFailpoint } from './lib/process/failpoint.ts';
import { type StopStep, stopInOrder } from './lib/process/graceful-stop.ts';
import { NODE_VERSION } from './lib/process/node-version.ts';
import type { Log } from './lib/telemetry/log.ts';
import { type StartProgress, silentProgress } from './lib/telemetry/start-progress.ts';
import { startTracing } from './lib/telemetry/tracing.ts';
import { prepareChain } from './payments/reconcile/prepare-chain.ts';
import { catchUp } from './payments/reconcile/read-payouts.ts';
import { startPayouts } from './payments/settlement/send-payouts.ts';
import { warnOfSettlement } from './payments/settlement/settlement-state.ts';
import { migrate } from './store/migrate.ts';
import { createPrimaryGate } from './store/primary/primary-gate.ts';
import { recallPromise } from './store/primary/promise-file.ts';

export interface NodeOptions {
  readonly config: Config;
  readonly secrets: ConfiguredSecrets;
  readonly log: Log;
  readonly clock?: Clock;
  readonly ownClock?: Clock;
  readonly checksAnswers?: boolean;
  /** Maximum time that a caller waits for a result; default 30 s. */
  readonly syncWaitMs?: number;
  /** Greatest age of the registry in memory that a read is answered from; default 20 ms. */
  readonly maxAgeMs?: number;
  /** Served under /dashboard; without it, the dashboard is off. */
  readonly dashboard?: DashboardBuild;
  /** The settings in force, for operators; default: none are shown. */
  readonly settings?: readonly SettingInForce[];
  /** Receives the steps of the start as they begin and end; default: none. */
  readonly progress?: StartProgress;
  /** Local mode's folder and database, if they were opened before, and are closed by their opener. Default: opened and closed here. */
  readonly localData?: LocalData;
  /** Runs after the start and before the node takes requests; the node is ready when it resolves. */
  readonly beforeReady?: (node: Omit<RunningNode, 'stop'>) => Promise<void>;
}

export interface RunningNode {
  readonly ctx: NodeContext;
  readonly baseUrl: string;
  /** Resources made by local mode; null when everything was configured. */
  readonly local: LocalPlan | null;
  stop(): Promise<void>;
}

/** Time that running work gets after the stop; the rest is handed back. */
const GRACE_MS = 2500;
const SETTLE_GRACE_MS = 500;
/** The migrations from which on processes keep networks, and tokens of one chain, apart: one of before would take further ones for the first. */
const SEVERAL_NETWORKS = 143;
const SEVERAL_TOKENS = 145;
/** Time limit of an orderly stop after it has been announced. */
const STOP_MS = 10_000;

/** Starts a node: local parts, the HTTP server, background jobs. Stops the started parts if anything fails. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const stops: StopStep[] = [];
  const stop = async () =>
    void (await stopInOrder(stops.splice(0).reverse(), {
      log: options.log,
      limitMs: STOP_MS + options.config.drainMs,
    }));
  try {
    return { ...(await start(options, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The oldest migration that every process on the database must know; null: any. */
function neededBy({ furtherNetworks, localChainIds, localTokens }: Config): number | null {
  const isOtherToken = ({ chainId, token }: NetworkSettings) =>
    token !== undefined && tokenKey({ chainId, token }) !== '';
  if (localTokens.length > 0 || furtherNetworks.some(isOtherToken)) return SEVERAL_TOKENS;
  return furtherNetworks.length + localChainIds.length > 0 ? SEVERAL_NETWORKS : null;
}

async function start(options: NodeOptions, stops: StopStep[]): Promise<Omit<RunningNode, 'stop'>> {
  const { config, log, progress = silentProgress } = options;
  if (config.failpoint) armFailpoint(config.failpoint);
  await traceIfOn(options, stops);
  const front = await listen(config, stops);
  const baseUrl = config.baseUrl ?? `http://${hostForUrl(config.host)}:${front.port}`;
  warnOfReach(config, baseUrl, log);
  const local = config.mode === 'local' ? await startLocalParts(options, stops) : null;
  const databaseUrl = config.databaseUrl ?? required(local?.databaseUrl);
  const gate = createPrimaryGate({ url: databaseUrl, log, label: config.nodeLabel });
  if (config.databasePromiseFile !== null) await recallPromise(gate, config.databasePromiseFile);
  const schemaVersion = await progress.step(startSteps.tables, () =>
    migrate(databaseUrl, log, { gate, needs: neededBy(config) }),
  );
  const chainRpcUrl = local
    ? await progress.step(startSteps.chain, () => local.openChain())
    : required(config.chainRpcUrl);

  let isReady = false;
  let isDraining = false;
  const ctx = await progress.step(startSteps.connections, () =>
    createContext({
      ...options,
      databaseUrl,
      gate,
      chainRpcUrl,
      baseUrl,
      keys: local?.nodeKeys ?? createNodeKeys(options.secrets),
      localWallet: local?.keys.account.address ?? null,
      self: { place: `${hostname()}:${front.port}`, version: NODE_VERSION, schemaVersion },
      isReady: () => isReady,
      isDraining: () => isDraining,
    }),
  );
  reportSignatureEngine(ctx);
  stops.push({ name: 'database', stop: () => ctx.db.close() });
  stops.push({ name: 'database watch', stop: () => Promise.all([ctx.databaseWatch.stop(), ctx.databaseClock.stop()]) });
  stops.push({ name: 'outbound calls', stop: () => ctx.guardedFetch.close() });
  stops.push({ name: 'file stores', stop: () => ctx.pieceStores.close() });
  stops.push({ name: 'heartbeat', stop: () => ctx.heartbeat.stop() });
  stops.push({ name: 'registry in memory', stop: () => Promise.all([ctx.replica.stop(), ctx.replicaDb.close()]) });
  // Alive, but not ready, while the registry is loaded.
  front.serve(createApp(ctx).fetch, createAdmission({ ...ctx, admissionLimits: config.admissionLimits }));
  await progress.step(startSteps.books, () => openBooks(ctx, { config, local }, stops));
  stops.push({
    name: 'requests',
    stop: async () => {
      isDraining = true;
      await delay(config.drainMs);
      await front.retire();
      isReady = false;
      await handBackInvocations(ctx, GRACE_MS);
      ctx.changeHub.leave();
      // The recurring work, stopped next, waits for its run.
      void ctx.registryWriter.stop();
      const settlers = ctx.networks.map(({ settler }) => settler.stop(SETTLE_GRACE_MS));
      await Promise.all([front.lastAnswers(), ...settlers]);
      await Promise.all(ctx.networks.map(({ channelClaims }) => channelClaims.stop(SETTLE_GRACE_MS)));
    },
  });
  const node = { ctx, baseUrl, local };
  await options.beforeReady?.(node);
  isReady = true;
  await front.open();
  return node;
}

interface BooksOptions extends Pick<NodeOptions, 'config'> {
  readonly local: LocalPlan | null;
}

/** Loads the registry, compares the books with the chain, and starts the work on both. */
async function openBooks(ctx: NodeContext, { config, local }: BooksOptions, stops: StopStep[]): Promise<void> {
  await ctx.replica.start();
  await prepareChain(ctx, local?.chainRepair, () => catchUp(ctx));
  await warnOfSettlement(ctx);
  const networks = await startNetworks(ctx, local?.furtherNetworks() ?? config.furtherNetworks, config.channels);
  stops.push({ name: 'further networks', stop: () => networks.stop() });
  await startBackground(ctx, stops);
}

/** OpenTelemetry is loaded where it is used: elsewhere it would cost every start a fifth of a second. */
async function traceIfOn({ config, log }: NodeOptions, stops: StopStep[]): Promise<void> {
  if (!config.tracing) return;
  const { createOpenTelemetry } = await import('./lib/telemetry/open-telemetry.ts');
  const tracing = startTracing(createOpenTelemetry(config.tracing, { log, nodeLabel: config.nodeLabel }));
  stops.push({ name: 'traces', stop: () => tracing.stop() });
  log.info({ ...config.tracing, endpoint: new URL(config.tracing.endpoint).origin }, 'traces are on');
}

async function startBackground(ctx: NodeContext, stops: StopStep[]): Promise<void> {
  await hearCancellations(ctx);
  // Before the recovery, which owes refunds.
  const payouts = startPayouts(ctx);
  stops.push({ name: 'payouts', stop: () => payouts.stop() });
  await recoverInvocations(ctx);
  const recurring = startRecurring(ctx);
  stops.push({ name: 'recurring work', stop: () => Promise.all(recurring.map((each) => each.stop())) });
}

const hostForUrl = (host: string) => (host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host);

function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined)
    throw new Error('Invariant broken: a setting is neither configured nor made by local mode');
  return value;
}
