import type { Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { isLong } from '../../service/test/support/long.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { type Populated, populate } from './support/populated.ts';
import { expectShape, keepPictures } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

/** The tests of each view look at it too, at 1280 and 320 px, light and dark: here it is phones, and, in the long run, everything. */
const WIDTHS = isLong ? [320, 375, 768, 1280, 1920] : [375];
const OF_EVERY_KIND = ['overview', 'agent-try', 'invocations', 'payments-history', 'keys-new', 'webhook', 'operator'];

let world: World;
let populated: Populated;
let page: Page;
beforeAll(async () => {
  world = await startWorld();
  populated = await populate(world);
  page = populated.page;
});
afterAll(async () => {
  await populated?.stop();
  await world?.stop();
});

it('every view has one title, fits, clips no column, and has nothing that axe finds wrong, from 320 to 1920 px', async () => {
  const names = isLong || process.env.SCREENSHOTS ? Object.keys(populated.views) : OF_EVERY_KIND;
  for (const name of names) {
    await page.goto(`/dashboard${populated.views[name]}`);
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await page.locator('.animate-pulse').first().waitFor({ state: 'detached' });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await expectShape(page, `${name} at ${width} px`);
      await expectAccessible(page, { what: `${name} at ${width} px`, isDarkDrawn: isLong || name === 'overview' });
    }
    await keepPictures(page, name);
  }
}, 900_000);
