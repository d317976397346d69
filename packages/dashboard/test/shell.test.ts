import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestAgent } from '../../service/test/support/test-agent.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { tabTo } from './support/tab-to.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

it('signs in with the account of local mode, with the keyboard alone', async () => {
  const { page } = await world.newPage();
  await page.goto('/dashboard/keys');
  await tabTo(page, page.getByRole('button', { name: /local account/i }));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
});

it('goes where the keys say: / to search, ? for the list, g and a letter to a view', async () => {
  const { page } = await world.signedIn();
  await page.goto('/dashboard/keys');
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByRole('heading', { name: 'Invocations' }).waitFor();
  await page.getByRole('searchbox').first().waitFor();
  await page.keyboard.press('/');
  const search = page.getByRole('searchbox').first();
  expect(await search.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  await page.keyboard.type('g?k');
  expect(await search.inputValue()).toBe('g?k');
  await page.getByRole('heading', { name: 'Invocations' }).click();
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await dialog.getByText('Go to Invocations').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'shortcuts');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
});

it('on a narrow screen the navigation is a drawer, which keeps and gives back the focus', async () => {
  const { page } = await world.signedIn({ width: 320 });
  await page.goto('/dashboard/keys');
  const open = page.getByRole('button', { name: 'Open navigation' });
  await open.click();
  const drawer = page.getByRole('dialog', { name: 'Navigation' });
  await drawer.getByRole('link', { name: 'Invocations' }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'drawer');
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'hidden' });
  expect(await open.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  await open.click();
  await drawer.getByRole('link', { name: 'Invocations' }).click();
  await page.getByRole('heading', { name: 'Invocations' }).waitFor();
  await drawer.waitFor({ state: 'hidden' });
});

it('is light or dark as one chose, at once, after a reload, and as the system when one did not', async () => {
  const { page } = await world.signedIn({ at: '/dashboard/' });
  const theme = () => page.evaluate<string>('document.documentElement.dataset.theme');
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  expect(await theme()).toBe('light');
  await choose('Dark');
  expect(await theme()).toBe('dark');
  await page.reload({ waitUntil: 'domcontentloaded' });
  expect(await theme()).toBe('dark');
  await page.getByRole('button', { name: 'Theme' }).waitFor();
  await choose('System');
  expect(await theme()).toBe('light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-theme=dark]').waitFor();
});

/** Keys that come before a field has the focus go to the page. */
const isReadyFor = (field: Locator) =>
  expect.poll(() => field.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);

it('finds pages, agents and invocations from anywhere with Ctrl-K, and goes there with Enter', async () => {
  const { page } = await world.signedIn();
  const name = `Palette weaver ${crypto.randomUUID().slice(0, 8)}`;
  const agent = await startTestAgent(world.h, { name });
  await page.goto('/dashboard/keys');
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.keyboard.press('Control+k');
  const search = page.getByRole('combobox', { name: 'Search everything' });
  await isReadyFor(search);
  await page.getByRole('option', { name: 'Webhooks' }).waitFor();
  await page.keyboard.type('palette wea');
  await page.getByRole('option', { name }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'palette');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/dashboard/explore/${agent.id}`);
  await page.getByRole('status').getByText(`${name} · agent-network`).waitFor({ state: 'attached' });
  await search.waitFor({ state: 'hidden' });
  await page.keyboard.press('Meta+k');
  await isReadyFor(search);
  await page.keyboard.type('how do I get my money back');
  await page
    .getByRole('option', { name: /refund/i })
    .first()
    .waitFor();
  await search.fill('xyzzy');
  await page.getByRole('option', { name: 'Find agents for “xyzzy”' }).click();
  await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
  expect(new URL(page.url()).searchParams.get('text')).toBe('xyzzy');
  await page.keyboard.press('Control+k');
  await isReadyFor(search);
  await page.keyboard.type('deposit');
  await page.getByRole('option', { name: 'Add funds' }).click();
  await page.getByRole('dialog', { name: 'Add funds' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Add funds' }).waitFor({ state: 'hidden' });
  await page.keyboard.press('Control+k');
  await isReadyFor(search);
  await page.keyboard.type('dark');
  await page.getByRole('option', { name: 'Use the dark theme' }).click();
  await page.locator('html[data-theme=dark]').waitFor();
  await agent.die();
});

it('has help and a way to the documentation on every page', async () => {
  const { page } = await world.signedIn({ at: '/dashboard/webhooks' });
  await page.getByRole('button', { name: 'Help' }).click();
  const dialog = page.getByRole('dialog', { name: 'Help: Webhooks' });
  const link = dialog.getByRole('link', { name: 'Documentation' });
  expect(await link.getAttribute('href')).toBe('/docs#webhooks');
  await expectAccessible(page);
  await lookAt(page, 'help');
  await dialog.getByRole('button', { name: 'Shortcuts' }).click();
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Search everything').waitFor();
});
