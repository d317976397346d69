import type { Browser, BrowserContext, Page } from 'playwright-core';
import { WAIT_MS } from '../../../service/test/support/until.ts';

/** A profile of the browser, of one visitor at a time. */
export interface Profile {
  readonly context: BrowserContext;
  /** Closes its pages and clears the visitor's data. */
  giveBack(): Promise<void>;
}

interface Kept {
  readonly context: BrowserContext;
  /** Keeps the process that draws the pages of the node, with the scripts that it has compiled. */
  readonly anchor: Page;
}

export const WIDTH = 1280;
export const HEIGHT = 900;

/** A file of the node, from which a page can call it: a view that no test looks at would cost half a second of processor time. */
export const BLANK = '/dashboard/icon.svg';

/** All that a page can store, but neither what was fetched nor what was compiled. */
const STORED = 'local_storage,indexeddb,cache_storage,service_workers,file_systems';

/** Idle profiles, by the address of their node. */
const idle = new WeakMap<Browser, Map<string, Kept[]>>();

function idleOf(browser: Browser, baseURL: string): Kept[] {
  const byNode = idle.get(browser) ?? new Map<string, Kept[]>();
  idle.set(browser, byNode);
  const found = byNode.get(baseURL) ?? [];
  byNode.set(baseURL, found);
  return found;
}

/** A profile without cookies and storage, which may have fetched and compiled the scripts of the node for an earlier visitor. */
export async function takeProfile(browser: Browser, baseURL: string): Promise<Profile> {
  const others = idleOf(browser, baseURL);
  const kept = others.pop() ?? (await open(browser, baseURL));
  return {
    context: kept.context,
    async giveBack() {
      await forget(kept, baseURL);
      others.push(kept);
    },
  };
}

/** Closes the profiles of a node that ends. */
export async function closeProfiles(browser: Browser, baseURL: string): Promise<void> {
  await Promise.all(
    idleOf(browser, baseURL)
      .splice(0)
      .map(({ context }) => context.close()),
  );
}

async function open(browser: Browser, baseURL: string): Promise<Kept> {
  const context = await newContext(browser, baseURL);
  const anchor = await context.newPage();
  await anchor.goto(BLANK);
  return { context, anchor };
}

/** A profile of a browser that has never been there, and never comes again. */
export async function newProfile(browser: Browser, baseURL: string): Promise<Profile> {
  const context = await newContext(browser, baseURL);
  return { context, giveBack: () => context.close() };
}

async function newContext(browser: Browser, baseURL: string): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width: WIDTH, height: HEIGHT },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(WAIT_MS);
  return context;
}

async function forget({ context, anchor }: Kept, origin: string): Promise<void> {
  const pages = context.pages().filter((page) => page !== anchor);
  await Promise.all(pages.map((page) => page.close()));
  await context.clearCookies();
  const devtools = await context.newCDPSession(anchor);
  await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: STORED });
  await devtools.detach();
}
