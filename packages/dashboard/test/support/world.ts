import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { startDashboardBuild } from '../../../service/src/http/dashboard/dashboard-build.ts';
import { silentLog } from '../../../service/src/lib/log.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../../service/test/support/harness.ts';
import { findChromium } from './find-chromium.ts';
import { expectNoComplaints, type OpenPage, watchPage } from './open-page.ts';
import { injectWallet, type TestWallet, walletOf } from './test-wallet.ts';

export interface World {
  readonly h: Harness;
  /** A page of nobody, in a browser profile of its own. */
  newPage(options?: { width?: number; isDark?: boolean; wallet?: TestWallet }): Promise<OpenPage>;
  /** A page of somebody who signed in with a wallet of their own, which holds test USDC. */
  signedIn(options?: { width?: number; isDark?: boolean }): Promise<OpenPage & { readonly wallet: TestWallet }>;
  stop(): Promise<void>;
}

/** A node with the built dashboard, and a browser. */
export async function startWorld(options: HarnessOptions = {}): Promise<World> {
  const dashboard = startDashboardBuild(silentLog);
  const [h, browser] = await Promise.all([
    startHarness({ ...options, dashboard }),
    chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox', '--disable-gpu'] }),
    dashboard.settled,
  ]);
  if (dashboard.state() !== 'ready')
    throw new Error('the dashboard was not built: node packages/dashboard/scripts/build.ts');
  const opened: OpenPage[] = [];
  const newPage: World['newPage'] = async ({ width = 1280, isDark = false, wallet } = {}) => {
    const context = await newContext(browser, h, { width, isDark });
    context.setDefaultTimeout(8000);
    if (wallet) await injectWallet(context, wallet);
    const page = watchPage(await context.newPage());
    opened.push(page);
    return page;
  };
  return {
    h,
    newPage,
    async signedIn(options) {
      const wallet = walletOf(await h.newWallet(), h.rpcUrl);
      const page = await newPage({ ...options, wallet });
      await signInWithWallet(page.page);
      return { ...page, wallet };
    },
    async stop() {
      await browser.close();
      await h.stop();
      for (const page of opened) expectNoComplaints(page);
    },
  };
}

const newContext = (
  browser: Browser,
  h: Harness,
  { width, isDark }: { width: number; isDark: boolean },
): Promise<BrowserContext> =>
  browser.newContext({
    baseURL: h.baseUrl,
    viewport: { width, height: 900 },
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });

/** From wherever one is, to the first view. */
async function signInWithWallet(page: Page): Promise<void> {
  await page.goto('/dashboard/');
  await page.getByRole('button', { name: 'Sign in with Test wallet' }).click();
  await page
    .getByRole('navigation', { name: 'Main' })
    .or(page.getByRole('button', { name: 'Open navigation' }))
    .first()
    .waitFor();
}
