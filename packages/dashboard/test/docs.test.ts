import { afterAll, beforeAll, expect } from 'vitest';
import { isLong } from '../../service/test/support/long.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** A page of each kind. */
const pages = [
  ['docs', '/docs', 'Concepts'],
  ['docs-quickstart', '/docs/quickstart', 'Quickstart'],
  ['docs-errors', '/docs/errors', 'Errors'],
  ['docs-api', '/docs/api/network', 'Network'],
] as const;

it.each(pages)('%s is accessible in both themes, and stays within its width', async (name, path, title) => {
  const { page } = await world.newPage();
  await page.goto(path);
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  await page.locator('.contents details[data-is-ready]').waitFor({ state: 'attached' });
  await lookAt(page, name);
  for (const width of isLong ? [320, 375, 1280, 1920] : [1280]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page, { what: `${name} at ${width} px` });
  }
});

it('the contents are closed on a narrow screen, and open once it is wide', async () => {
  const { page } = await world.newPage({ width: 375 });
  await page.goto('/docs/quickstart');
  const contents = page.locator('.contents details');
  await expect.poll(() => contents.getAttribute('open')).toBe(null);
  await page.setViewportSize({ width: 1280, height: 900 });
  await expect.poll(() => contents.getAttribute('open')).toBe('');
});

it('the documentation is searched from the keyboard, by words of guides and names of calls', async () => {
  const { page } = await world.newPage();
  await page.goto('/docs/base');
  await page.getByRole('searchbox', { name: 'Search' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('idempotncy retry');
  await page.locator('#found a').first().waitFor();
  expect(await page.locator('#found').textContent()).toContain('Idempotency and retries');
  await page.getByRole('searchbox').fill('createWebhook');
  await page.locator('#found a', { hasText: 'POST /account/webhooks' }).first().waitFor();
  await expectAccessible(page);
  await page.getByRole('searchbox').fill('RATE_LIMITED');
  await page.locator('#found a', { hasText: '429 RATE_LIMITED' }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/errors#error-RATE_LIMITED');
  await page.keyboard.press('/');
  await page.keyboard.type('zzzzzzzz');
  await page.getByText('Nothing found.').waitFor();
  await page.keyboard.press('Escape');
  expect(await page.locator('#found').isVisible()).toBe(false);
});

it('the language that is chosen once is shown everywhere, and a sample is copied as it stands', async () => {
  const { page } = await world.newPage();
  await page.goto('/docs/api/withdrawals');
  const samples = page.locator('#withdraw .samples');
  await samples.getByRole('button', { name: 'Python' }).click();
  expect(await samples.locator('.sample:visible').getAttribute('data-language')).toBe('Python');
  expect(await page.locator('#collectEarnings .sample:visible').getAttribute('data-language')).toBe('Python');
  await samples.getByRole('button', { name: 'Copy' }).filter({ visible: true }).click();
  await page.getByRole('status').getByText('Copied').waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toBe(await samples.locator('.sample:visible pre').textContent());
  expect(copied).toContain(`"${world.h.baseUrl}/payments/withdraw"`);
  await page.goto('/docs/quickstart');
  await page.locator('.languages').first().waitFor();
  expect(await page.locator('#quickstart .sample:visible').first().getAttribute('data-language')).toBe('Python');
});

it.each([
  ['/docs#invokeAgent', '/docs/api/invocation#invokeAgent'],
  ['/docs/building#buildingGo', '/docs/building-go#buildingGo'],
  ['/docs/api/account#createWebhook', '/docs/api/webhooks#createWebhook'],
])('%s, from before its page was split, leads to %s', async (former, now) => {
  const { page } = await world.newPage();
  await page.goto(former);
  await page.waitForURL(`**${now}`);
});

it('the contents show the page that is open, however far down it is in them', async () => {
  const { page } = await world.newPage();
  await page.goto('/docs/api/network');
  await page.locator('.contents details[data-is-ready]').waitFor({ state: 'attached' });
  const current = page.locator('.contents [aria-current]');
  const [frame, link] = [await page.locator('.contents').boundingBox(), await current.boundingBox()];
  expect(link?.y).toBeGreaterThan(frame?.y ?? 0);
  expect(link?.y).toBeLessThan((frame?.y ?? 0) + (frame?.height ?? 0));
});
