import { type Browser, chromium } from 'playwright-core';
import { startDashboardBuild } from '../../../service/src/http/site/dashboard-build.ts';
import { silentLog } from '../../../service/src/lib/telemetry/log.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../../service/test/support/harness.ts';
import { type Loan, lend } from '../../../service/test/support/lend.ts';
import { startLasting } from '../../../service/test/support/lent-harness.ts';
import { findBrowser } from './find-browser.ts';

/**
 * An idle node with its chain and a browser cost a tenth of a processor, starting them three seconds of one. Another file, of those that
 * run between the journeys (scripts/longest-first.ts), takes about as long as this.
 */
const LINGER_MS = 20_000;

/** A browser: one at a time in a process. */
export const sharedBrowser = (): Promise<Loan<Browser>> =>
  lend({ name: 'A browser', lingerMs: LINGER_MS, start: launch, end: (it) => it.close() });

/** A node with the built dashboard: one at a time in a process. */
export const sharedNode = (): Promise<Loan<Harness>> =>
  lend({
    name: 'A node with the dashboard',
    lingerMs: LINGER_MS,
    start: () => startLasting(startNodeWithDashboard),
    end: (it) => it.stop(),
  });

/**
 * Arguments of Chromium. Pages of a profile share a process, which starts once and keeps its compiled code. No page lives long enough to
 * gain from the optimizing compilers of V8, which took a tenth of the pages' processor time.
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
