import type { Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';
import { onTestFinished, TestRunner } from 'vitest';
import { openAccount } from '../../../service/src/accounts/open-account.ts';
import { openBrowser } from '../../../service/test/support/browser.ts';
import type { Harness, HarnessOptions } from '../../../service/test/support/harness.ts';
import { expectNoComplaints, type OpenPage, watchPage } from './open-page.ts';
import { BLANK, closeProfiles, HEIGHT, newProfile, type Profile, takeProfile, WIDTH } from './profiles.ts';
import { sharedBrowser, sharedNode, startNodeWithDashboard } from './shared-world.ts';
import { injectWallet, type TestWallet, walletOf } from './test-wallet.ts';

interface PageOptions {
  readonly width?: number;
  /** True for a browser that has fetched nothing yet. */
  readonly isFirstVisit?: boolean;
}

export interface World {
  readonly h: Harness;
  /** A page without a session, in a browser profile of its own; closed at the end of the test that opened it, or of the file. */
  newPage(options?: PageOptions & { wallet?: TestWallet }): Promise<OpenPage>;
  /**
   * A page of somebody who signed in with a wallet of their own, which holds test USDC; on the plan without limits. It shows the view `at`
   * this path, or, without one, nothing yet.
   */
  signedIn(options?: PageOptions & { at?: string }): Promise<OpenPage & { readonly wallet: TestWallet }>;
  /** Closes the pages, and fails if one of them complained. */
  stop(): Promise<void>;
}

/** The browser that all test files of this process share, and their node, or one of its own that is started with `options`. */
export async function startWorld(options?: HarnessOptions): Promise<World> {
  const [node, browser] = await Promise.all([options ? ownNode(options) : sharedNode(), sharedBrowser()]);
  const h = node.it;
  const profiles = new Set<Profile>();
  const opened: OpenPage[] = [];
  const newPage: World['newPage'] = async ({ width = WIDTH, wallet, isFirstVisit = false } = {}) => {
    const profile = await (isFirstVisit ? newProfile : takeProfile)(browser.it, h.baseUrl);
    profiles.add(profile);
    const page = watchPage(await profile.context.newPage());
    opened.push(page);
    endsWithTest(async (hasFailed) => {
      if (hasFailed) process.stderr.write(`A test failed with this page open:\n${await shownBy(page)}\n`);
      if (profiles.delete(profile)) await profile.giveBack();
    });
    if (width !== WIDTH) await page.page.setViewportSize({ width, height: HEIGHT });
    if (wallet) await injectWallet(page.page, wallet);
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
      await Promise.all([...profiles].map((profile) => profile.giveBack()));
      if (options) await closeProfiles(browser.it, h.baseUrl);
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

/** Ends resources with the test that opened them, as an open page follows the node's events. In a hook: with the world. */
function endsWithTest(end: (hasFailed: boolean) => Promise<void>): void {
  if (TestRunner.getCurrentTest()) onTestFinished(({ task }) => end(task.result?.state === 'fail'));
}

const MAX_SHOWN = 1000;

/** Address, text and console messages of a page, for the error of a wait that timed out. */
async function shownBy({ page, complaints }: OpenPage): Promise<string> {
  const text = await page
    .locator('body')
    .innerText()
    .catch((error: unknown) => String(error));
  return [page.url(), ...complaints, text.slice(0, MAX_SHOWN)].join('\n');
}

/** Signs in like the sign-in view, but without the view, which has tests of its own. */
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
