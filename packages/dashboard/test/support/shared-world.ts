import { rmSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { startDashboardBuild } from '../../../service/src/http/dashboard/dashboard-build.ts';
import { silentLog } from '../../../service/src/lib/log.ts';
import { type Harness, startHarness } from '../../../service/test/support/harness.ts';
import { findChromium } from './find-chromium.ts';

interface SharedWorld {
  readonly h: Harness;
  readonly browser: Browser;
}

const shared = globalThis as { dashboardWorld?: Promise<SharedWorld> };

/** A node with the built dashboard and a browser: started once in a process, and ended with it. */
export function sharedWorld(): Promise<SharedWorld> {
  shared.dashboardWorld ??= start();
  return shared.dashboardWorld;
}

async function start(): Promise<SharedWorld> {
  const dashboard = startDashboardBuild(silentLog);
  const [h, browser] = await Promise.all([
    startHarness({ dashboard }),
    chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox', '--disable-gpu'], handleSIGTERM: false }),
    dashboard.settled,
  ]);
  if (dashboard.state() !== 'ready')
    throw new Error('the dashboard was not built: node packages/dashboard/scripts/build.ts');
  // Chromium, the chain and the database end with this process by themselves; only files would stay.
  process.once('exit', () => rmSync(h.dataDir, { recursive: true, force: true }));
  // Vitest ends its workers with SIGTERM, which runs no exit handlers.
  process.once('SIGTERM', () => process.exit());
  return { h, browser };
}
