import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startSteps } from './compose/start-steps.ts';
import type { ReadConfig } from './config/config.ts';
import type { SettingInForce } from './config/settings.ts';
import type { DashboardBuild } from './http/site/dashboard-build.ts';
import { type StopStep, stopInOrder } from './lib/process/graceful-stop.ts';
import { stopAsked } from './lib/process/stop-asked.ts';
import type { Log } from './lib/telemetry/log.ts';
import { redactText } from './lib/telemetry/redact.ts';
import {
  createLogProgress,
  createScreenProgress,
  type ScreenProgress,
  type StartProgress,
  silentProgress,
} from './lib/telemetry/start-progress.ts';
import type { RunningNode } from './node.ts';

/** Compiled code of earlier starts, in the project, which only its owner writes: loading the program is the longest step without it. */
const CODE_CACHE = join(import.meta.dirname, '../../../node_modules/.cache/agent-network-code');

/** Head start of the database, which is up after it unless it has to be created. */
const DATABASE_AHEAD_MS = 300;

const GREETING =
  '\n  agent-network is starting. A first start takes longest: it makes a database, a chain and the pages.\n\n';

interface Starting extends ReadConfig {
  readonly settings: readonly SettingInForce[];
  readonly log: Log;
  readonly progress: StartProgress;
  readonly dashboard?: DashboardBuild & { stop(): void };
}

/** Starts the node, waits for a stop signal, stops. Exit code 1: start or orderly stop failed. Most code is loaded after the first line. */
async function main(): Promise<void> {
  enableCompileCache(CODE_CACHE);
  const { NODE_ENV, LOG_LEVEL } = process.env;
  const isShown = NODE_ENV !== 'production' && LOG_LEVEL !== 'silent';
  const screen = isShown ? createScreenProgress(process.stdout) : null;
  screen?.write(GREETING);
  const starting = await readSettings(screen);
  const { config, log, dashboard } = starting;
  process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled promise rejection'));
  const node = config.mode === 'local' ? await startLocal(starting, screen) : await startConfigured(starting);
  await stopAsked();
  dashboard?.stop();
  await node.stop();
  // Work that waits for an unresponsive chain or agent has been handed back.
  process.exit();
}

/** Reads the settings, which says what is wrong with them before anything else is loaded, and has the pages built meanwhile. */
async function readSettings(screen: ScreenProgress | null): Promise<Starting> {
  const { readConfig } = await import('./config/config.ts');
  const { createLog } = await import('./lib/telemetry/log.ts');
  const { settingsInForce } = await import('./config/settings.ts');
  const { config, secrets } = readConfig(process.env);
  const settings = settingsInForce(process.env);
  const log = createLog({
    level: config.logLevel,
    pretty: config.mode === 'local',
    ...(screen ? { destination: screen } : {}),
  });
  const progress = screen ?? (config.mode === 'production' ? createLogProgress(log) : silentProgress);
  if (!config.servesDashboard) return { config, secrets, settings, log, progress };
  const { startDashboardBuild } = await import('./http/site/dashboard-build.ts');
  const dashboard = startDashboardBuild(log, { yields: true });
  const built = async () => {
    await dashboard.settled;
    if (dashboard.state() === 'failed') throw new Error('the dashboard could not be built');
  };
  // The log has the reason, and the node runs without the dashboard.
  progress.step(startSteps.dashboard, built).catch(() => undefined);
  return { config, secrets, settings, log, progress, dashboard };
}

async function startConfigured({ progress, ...starting }: Starting): Promise<RunningNode> {
  const { log } = starting;
  const { startNode } = await progress.step(startSteps.code, () => import('./node.ts'));
  await warnOfSettings(log);
  const node = await startNode({ ...starting, progress });
  log.info({ baseUrl: node.baseUrl, tookMs: Math.round(performance.now()) }, 'ready');
  return node;
}

/** Starts a local node. Its database starts while the program is loaded. */
async function startLocal(starting: Starting, screen: ScreenProgress | null): Promise<Pick<RunningNode, 'stop'>> {
  const { config, log, progress } = starting;
  const stops: StopStep[] = [];
  const stop = async () => void (await stopInOrder(stops.splice(0).reverse(), { log }));
  try {
    const { openLocalData } = await import('./compose/local/local-data.ts');
    const opening = openLocalData(starting, stops);
    // Loading blocks this thread: by then the database has a process of its own.
    await Promise.race([opening, delay(DATABASE_AHEAD_MS)]);
    const { startLocalNode } = await progress.step(startSteps.code, () => import('./local-mode.ts'));
    const localData = await opening;
    await warnOfSettings(log);
    const node = await startLocalNode({ ...starting, localData });
    stops.push({ name: 'local node', stop: () => node.stop() });
    const { welcomeText } = await import('./compose/local/welcome.ts');
    screen?.write(`${welcomeText(node.localJson, config, performance.now())}\n`);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function warnOfSettings(log: Log): Promise<void> {
  const { warnOfMisspelt } = await import('./compose/start-warnings.ts');
  warnOfMisspelt(process.env, log);
}

main().catch((error: unknown) => {
  process.stderr.write(
    redactText(`agent-network could not start: ${error instanceof Error ? error.message : error}\n`),
  );
  if (process.env.LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(redactText(`${error.stack}\n`));
  process.exit(1);
});
