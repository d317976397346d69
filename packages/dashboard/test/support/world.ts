import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';
import { openBrowser } from '../../../service/test/support/browser.ts';
import type { Harness } from '../../../service/test/support/harness.ts';
import { expectNoComplaints, type OpenPage, watchPage } from './open-page.ts';
import { sharedWorld } from './shared-world.ts';
import { injectWallet, type TestWallet, walletOf } from './test-wallet.ts';

export interface World {
  readonly h: Harness;
  /** A page of nobody, in a browser profile of its own. */
  newPage(options?: { width?: number; isDark?: boolean; wallet?: TestWallet }): Promise<OpenPage>;
  /** A page of somebody who signed in with a wallet of their own, which holds test USDC. */
  signedIn(options?: { width?: number; isDark?: boolean }): Promise<OpenPage & { readonly wallet: TestWallet }>;
  /** Closes the pages, and fails if one of them complained. */
  stop(): Promise<void>;
}

/** The node and the browser that all test files of this process share, with contexts and accounts of their own. */
export async function startWorld(): Promise<World> {
  const { h, browser } = await sharedWorld();
  const contexts: BrowserContext[] = [];
  const opened: OpenPage[] = [];
  const newPage: World['newPage'] = async ({ width = 1280, isDark = false, wallet } = {}) => {
    const context = await newContext(browser, h, { width, isDark });
    contexts.push(context);
    if (wallet) await injectWallet(context, wallet);
    const page = watchPage(await context.newPage());
    opened.push(page);
    return page;
  };
  return {
    h,
    newPage,
    async signedIn(options) {
      const account = await h.newWallet();
      const wallet = walletOf(account, h.rpcUrl);
      const page = await newPage({ ...options, wallet });
      await signIn(page.page, h, account);
      return { ...page, wallet };
    },
    async stop() {
      await Promise.all(contexts.map((context) => context.close()));
      for (const page of opened) expectNoComplaints(page);
    },
  };
}

async function newContext(
  browser: Browser,
  h: Harness,
  { width, isDark }: { width: number; isDark: boolean },
): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: h.baseUrl,
    viewport: { width, height: 900 },
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(15_000);
  return context;
}

/** As the sign-in view does it, without the view: that has tests of its own. Then to the first view. */
async function signIn(page: Page, h: Harness, wallet: PrivateKeyAccount): Promise<void> {
  const [name = '', value = ''] = (await openBrowser(h, wallet)).cookie().split('=');
  // Cookies know no ports; Chromium takes secure ones on loopback.
  await page.context().addCookies([{ name, value, url: h.baseUrl.replace('http:', 'https:'), httpOnly: true }]);
  await page.goto('/dashboard/');
  await page
    .getByRole('navigation', { name: 'Main' })
    .or(page.getByRole('button', { name: 'Open navigation' }))
    .first()
    .waitFor();
}
