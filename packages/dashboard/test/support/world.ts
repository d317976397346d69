import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';
import { openAccount } from '../../../service/src/access/accounts/open-account.ts';
import { openBrowser } from '../../../service/test/support/browser.ts';
import type { Harness, HarnessOptions } from '../../../service/test/support/harness.ts';
import { expectNoComplaints, type OpenPage, watchPage } from './open-page.ts';
import { sharedBrowser, sharedNode, startNodeWithDashboard } from './shared-world.ts';
import { injectWallet, type TestWallet, walletOf } from './test-wallet.ts';

export interface World {
  readonly h: Harness;
  /** A page of nobody, in a browser profile of its own. */
  newPage(options?: { width?: number; isDark?: boolean; wallet?: TestWallet }): Promise<OpenPage>;
  /**
   * A page of somebody who signed in with a wallet of their own, which holds test USDC; on the plan without limits. It shows the view `at`
   * this path, or, without one, nothing yet.
   */
  signedIn(options?: {
    width?: number;
    isDark?: boolean;
    at?: string;
  }): Promise<OpenPage & { readonly wallet: TestWallet }>;
  /** Closes the pages, and fails if one of them complained. */
  stop(): Promise<void>;
}

/** The browser that all test files of this process share, and their node, or one of its own that is started with `options`. */
export async function startWorld(options?: HarnessOptions): Promise<World> {
  const [node, browser] = await Promise.all([options ? ownNode(options) : sharedNode(), sharedBrowser()]);
  const h = node.it;
  const contexts: BrowserContext[] = [];
  const opened: OpenPage[] = [];
  const newPage: World['newPage'] = async ({ width = 1280, isDark = false, wallet } = {}) => {
    const context = await newContext(browser.it, h, { width, isDark });
    contexts.push(context);
    if (wallet) await injectWallet(context, wallet);
    const page = watchPage(await context.newPage());
    opened.push(page);
    return page;
  };
  return {
    h,
    newPage,
    async signedIn({ at, ...size } = {}) {
      const account = await h.newWallet();
      await openAccount(h.ctx, { address: account.address.toLowerCase(), plan: 'enterprise', isWalletProven: true });
      const wallet = walletOf(account, h.rpcUrl);
      const page = await newPage({ ...size, wallet });
      await signIn(page.page, h, account);
      if (at) await openView(page.page, at);
      else await page.page.goto(BLANK);
      return { ...page, wallet };
    },
    async stop() {
      await Promise.all(contexts.map((context) => context.close()));
      browser.giveBack();
      await node.giveBack();
      for (const page of opened) expectNoComplaints(page);
    },
  };
}

async function ownNode(options: HarnessOptions) {
  const it = await startNodeWithDashboard(options);
  return { it, giveBack: () => it.stop() };
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

/** A file of the node, from which a page can call it: a view that no test looks at would cost half a second of processor time. */
const BLANK = '/dashboard/icon.svg';

/** As the sign-in view does it, without the view: that has tests of its own. */
async function signIn(page: Page, h: Harness, wallet: PrivateKeyAccount): Promise<void> {
  const [name = '', value = ''] = (await openBrowser(h, wallet)).cookie().split('=');
  // Cookies know no ports; Chromium takes secure ones on loopback.
  await page.context().addCookies([{ name, value, url: h.baseUrl.replace('http:', 'https:'), httpOnly: true }]);
}

async function openView(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await untilIn(page);
}

/** With the wallet that the page has; to the first view. */
export async function signInWithWallet(page: Page): Promise<void> {
  await page.goto('/dashboard/');
  await page.getByRole('button', { name: 'Sign in with Test wallet' }).click();
  await untilIn(page);
}

const untilIn = (page: Page): Promise<void> =>
  page
    .getByRole('navigation', { name: 'Main' })
    .or(page.getByRole('button', { name: 'Open navigation' }))
    .first()
    .waitFor();
