import { rmSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { startDashboardBuild } from '../../../service/src/http/build/dashboard-build.ts';
import { silentLog } from '../../../service/src/lib/log/log.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../../service/test/support/harness.ts';
import { findBrowser } from './find-browser.ts';

/** An idle node with its chain and a browser cost a tenth of a processor: they end soon after the last file that needs them. */
const LINGER_MS = 3_000;

interface Shared<T> {
  readonly it: Promise<T>;
  users: number;
  ending?: NodeJS.Timeout;
}

/** What a file has of something shared; everyone's last `giveBack` ends it after a while. */
interface Loan<T> {
  readonly it: T;
  giveBack(): void;
}

const shared = globalThis as { dashboardNode?: Shared<Harness>; dashboardBrowser?: Shared<Browser> };

/** A browser: one at a time in a process. */
export const sharedBrowser = (): Promise<Loan<Browser>> =>
  lend(
    () => (shared.dashboardBrowser ??= { it: launch(), users: 0 }),
    (it) => it.close(),
    () => delete shared.dashboardBrowser,
  );

/** A node with the built dashboard: one at a time in a process. */
export const sharedNode = (): Promise<Loan<Harness>> =>
  lend(
    () => (shared.dashboardNode ??= { it: startLasting(), users: 0 }),
    (it) => it.stop(),
    () => delete shared.dashboardNode,
  );

async function lend<T>(take: () => Shared<T>, end: (it: T) => Promise<void>, forget: () => void): Promise<Loan<T>> {
  const held = take();
  held.users += 1;
  clearTimeout(held.ending);
  const it = await held.it.catch((error) => {
    forget();
    throw error;
  });
  const stop = () => {
    forget();
    end(it).catch((error) => process.stderr.write(`A shared part of the dashboard's tests did not end: ${error}\n`));
  };
  return {
    it,
    giveBack() {
      held.users -= 1;
      if (held.users === 0) held.ending = setTimeout(stop, LINGER_MS);
    },
  };
}

/**
 * Pages of a profile share a process, which starts once and keeps what it has compiled. No page lives long enough to gain from the
 * optimizing compilers of V8: they took a tenth of the processor time of the pages.
 */
const ARGS = ['--no-sandbox', '--disable-gpu', '--process-per-site', '--js-flags=--no-opt --no-maglev'];

async function launch(): Promise<Browser> {
  const { executablePath, env } = await findBrowser();
  return chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: ARGS,
    handleSIGTERM: false,
  });
}

/** A node with the built dashboard. */
export async function startNodeWithDashboard(options: HarnessOptions = {}): Promise<Harness> {
  const dashboard = startDashboardBuild(silentLog);
  const [h] = await Promise.all([startHarness({ ...options, dashboard }), dashboard.settled]);
  if (dashboard.state() !== 'ready')
    throw new Error('the dashboard was not built: node packages/dashboard/scripts/build.ts');
  return h;
}

async function startLasting(): Promise<Harness> {
  const h = await startNodeWithDashboard();
  // In a process that ends before it, Chromium, the chain and the database end by themselves; only files would stay.
  const removeFiles = () => rmSync(h.dataDir, { recursive: true, force: true });
  // Vitest ends its workers with SIGTERM, which runs no exit handlers.
  const exit = () => process.exit();
  process.once('exit', removeFiles).once('SIGTERM', exit);
  return {
    ...h,
    async stop() {
      await h.stop();
      process.off('exit', removeFiles).off('SIGTERM', exit);
    },
  };
}
