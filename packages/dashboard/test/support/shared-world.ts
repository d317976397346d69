import { rmSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { startDashboardBuild } from '../../../service/src/http/build/dashboard-build.ts';
import { silentLog } from '../../../service/src/lib/log/log.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../../service/test/support/harness.ts';
import { findBrowser } from './find-browser.ts';

const shared = globalThis as { dashboardNode?: Promise<Harness>; dashboardBrowser?: Promise<Browser> };

/** A browser: started once in a process, and ended with it. */
export function sharedBrowser(): Promise<Browser> {
  shared.dashboardBrowser ??= launch();
  return shared.dashboardBrowser;
}

async function launch(): Promise<Browser> {
  const { executablePath, env } = await findBrowser();
  return chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: ['--no-sandbox', '--disable-gpu'],
    handleSIGTERM: false,
  });
}

/** A node with the built dashboard: started once in a process, and ended with it. */
export function sharedNode(): Promise<Harness> {
  shared.dashboardNode ??= startLasting();
  return shared.dashboardNode;
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
  // Chromium, the chain and the database end with this process by themselves; only files would stay.
  process.once('exit', () => rmSync(h.dataDir, { recursive: true, force: true }));
  // Vitest ends its workers with SIGTERM, which runs no exit handlers.
  process.once('SIGTERM', () => process.exit());
  return h;
}
