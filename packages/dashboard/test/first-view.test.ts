import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { countStalls } from '../../service/test/support/watch.ts';
import { it } from './support/journey.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const MAX_BYTES = 250_000;
const MAX_MS = 3000;

/** Notes when the title of a view is there: all that leads to it has run. */
const recordTitle = `(() => {
  const look = () => (document.querySelector('h1') ? (window.titleShownMs = performance.now()) : requestAnimationFrame(look));
  look();
})()`;

interface Loaded {
  readonly bytes: number;
  readonly scripts: readonly string[];
  readonly ms: number;
}

async function load(page: Page, path: string): Promise<Loaded> {
  await page.addInitScript(recordTitle);
  await page.goto(path);
  await page.locator('h1').waitFor();
  return page.evaluate<Loaded>(`({
    ms: window.titleShownMs ?? performance.now(),
    scripts: performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js')),
    bytes: performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  })`);
}

it.each([
  ['sign-in', '/dashboard/sign-in'],
  ['the first view', '/dashboard/'],
  ['invocations', '/dashboard/invocations'],
])('%s, opened by a browser that knows nothing, is there soon and with little script', async (name, path) => {
  const { page } = await (name === 'sign-in' ? world.newPage : world.signedIn)({ isFirstVisit: true });
  const fresh = await page.context().newPage();
  const devtools = await page.context().newCDPSession(fresh);
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  const stalls = countStalls();
  const { bytes, ms, scripts } = await load(fresh, path);
  process.stdout.write(`${name}: ${(bytes / 1000).toFixed(1)} kB of script, there after ${ms.toFixed(0)} ms\n`);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(MAX_BYTES);
  expect(ms - stalls()).toBeLessThan(MAX_MS);
  if (name === 'invocations') return;
  const texts = await Promise.all(scripts.map(async (url) => (await fetch(url)).text()));
  expect(texts.join('')).not.toMatch(/ZodObject|secp256k1|exact-evm/);
});
