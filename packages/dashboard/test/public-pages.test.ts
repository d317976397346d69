import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { agentSlug } from '../../service/src/agents/agent-slug.ts';
import { isLong } from '../../service/test/support/long.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { hostileText } from './support/hostile.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { tabTo } from './support/tab-to.ts';
import { startWorld, type World } from './support/world.ts';

const NAME = 'مترجم النصوص';
const LONG = `Reader-${'of-very-long-words'.repeat(4)}`;
const MAX_SCRIPT_BYTES = 100_000;
const WIDTHS = [320, 375, 768, 1280, 1920];

let world: World;
let paths: Readonly<Record<'home' | 'explore' | 'agent' | 'hostile', string>>;

beforeAll(async () => {
  world = await startWorld();
  const { h } = world;
  const owner = await h.newAccount();
  const perUnit = { price: '0.001', unit: 'page', count: '/pages', measure: 'number', maximum: '1' };
  const register = async (name: string, perRequest: string, description: string) => {
    const { body } = await h.request('POST', '/agents', {
      key: owner.key,
      body: {
        ...{ name, description, endpoint: 'http://127.0.0.1:9/' },
        capabilities: ['page.public', 'text.translate', 'text.summarize', 'language.detect', 'speech.read'],
        rates: { perRequest },
        metadata: {
          website: 'https://agent.example/about',
          ...(name === NAME ? {} : { perUnit }),
        },
      },
    });
    return `/agents/${agentSlug({ id: body.data.id, name })}`;
  };
  const agent = await register(NAME, '0.05', 'يترجم النصوص من العربية.\n\nTranslates texts, and keeps their layout.');
  await register(LONG, '0', 'Reads.');
  const hostile = await register(hostileText.slice(0, 100), '0.25', hostileText);
  paths = { home: '/', explore: '/explore', agent, hostile };
  await h.ctx.db.query(
    'online',
    `update agent set status = 'online', endpoint_proven_at = now() where account_id = '${owner.accountId}'`,
  );
});
afterAll(() => world.stop());

const overflowOf = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

it.each(['home', 'explore', 'agent', 'hostile'] as const)(
  'the public page %s is accessible and fits from 320 to 1920 px, in light and dark, with little script or none',
  async (name) => {
    const { page } = await world.newPage();
    const answer = await page.goto(paths[name]);
    expect(await page.content(), `answered ${answer?.status()} from ${page.url()}`).toContain('<h1');
    await lookAt(page, `public-${name}`);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      expect(await overflowOf(page), `${name} at ${width}`).toBe(0);
      if (isLong || width === 320 || width === 1920) await expectAccessible(page, { what: `${name} at ${width} px` });
    }
    const hasForm = name !== 'explore';
    const scripts = await page.evaluate<{ name: string; bytes: number }[]>(
      `performance.getEntriesByType('resource').map(({ name, decodedBodySize: bytes }) => ({ name, bytes })).filter(({ name }) => /[.]js$/.test(name))`,
    );
    expect(scripts.length > 0).toBe(hasForm);
    expect(scripts.every((each) => each.name.startsWith(`${world.h.baseUrl}/pages/`))).toBe(true);
    expect(scripts.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MAX_SCRIPT_BYTES);
    expect(
      await page.evaluate('document.querySelectorAll("script:not([type=\\"application/ld+json\\"])").length'),
    ).toBe(hasForm ? 2 : 0);
    expect(await page.title()).not.toBe('1');
  },
);

it('the front page has at most four and a half screens of a phone beside the form of its agent; its lists scroll sideways, by keyboard too', async () => {
  const { page } = await world.newPage();
  await page.setViewportSize({ width: 375, height: 812 });
  await page.goto('/');
  // The form that runs an agent has as many fields as that agent's input: here one of another test file may be the best.
  const screens = await page.evaluate<number>(
    `(document.documentElement.scrollHeight - document.querySelector('.live').offsetHeight) / innerHeight`,
  );
  expect(screens).toBeLessThan(4.5);
  const receipts = page.getByRole('link', { name: 'See the reserves' });
  const isInView = () =>
    page.evaluate<boolean>(
      `document.querySelector('.reasons li:last-child a').getBoundingClientRect().right <= document.documentElement.clientWidth`,
    );
  expect(await isInView()).toBe(false);
  await receipts.focus();
  await expect.poll(isInView).toBe(true);
});

it('a name that is written from right to left stands so on its own, and leaves the rest as it is', async () => {
  const { page } = await world.newPage();
  await page.goto(paths.agent);
  const directions = await page.evaluate(
    `['h1', '.description p', 'main'].map((each) => getComputedStyle(document.querySelector(each)).direction)`,
  );
  expect(directions).toEqual(['rtl', 'rtl', 'ltr']);
});

it('a visitor finds an agent by keyboard, and is asked to sign in or pay only after the price was shown', async () => {
  const { page } = await world.newPage();
  await page.goto('/');
  await tabTo(page, page.getByLabel('Find an agent'));
  await page.keyboard.type('Translates');
  await page.keyboard.press('Enter');
  const link = page.getByRole('link', { name: NAME });
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByLabel('Task'));
  await page.keyboard.type('Translate & keep: 1+1');
  await tabTo(page, page.getByRole('button', { name: 'Run', exact: true }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('link', { name: 'Sign in', exact: true }));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Use the local account' }).click();
  await expect.poll(() => page.getByLabel(/^Task/).inputValue()).toBe('Translate & keep: 1+1');
  expect(await page.getByRole('tab', { name: 'Try it' }).getAttribute('aria-selected')).toBe('true');
});

it('samples are chosen by keyboard without a script, and copied with one', async () => {
  const { page } = await world.newPage();
  await page.goto('/');
  await tabTo(page, page.getByRole('radio', { name: 'HTTP', exact: true }));
  await page.keyboard.press('ArrowRight');
  const samples = page.locator('#call ~ .tabs pre:visible');
  await expect.poll(() => samples.textContent()).toContain('createClient');
  await page.getByRole('group', { name: 'Ways to call' }).getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('status').getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await samples.textContent());
});

it('an address within a tab opens the tab', async () => {
  const { page } = await world.newPage();
  await page.goto(`${paths.agent}#reputation`);
  await page.getByRole('heading', { name: 'New: no rating yet' }).waitFor();
  expect(await page.getByRole('radio', { name: 'Reputation' }).isChecked()).toBe(true);
});

it('the colours are those of the dashboard', () => {
  const valuesIn = (path: string) =>
    [...readFileSync(new URL(path, import.meta.url), 'utf8').matchAll(/^\s*(--[a-z-]+): (#[0-9a-f]{6});$/gm)].map(
      ([, name, value]) => `${name} ${value}`,
    );
  const colours = valuesIn('../src/styles.css');
  expect(colours.length).toBeGreaterThan(30);
  expect(valuesIn('../../service/src/http/site/pages.css')).toEqual(colours);
});
