import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../screenshots');

/** From this width on no table scrolls sideways; phones have rows of two lines. */
const ROOMY_PX = 1280;

const shape = `({
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  titles: document.querySelectorAll('h1').length,
  clipped: [...document.querySelectorAll('main .data-table')]
    .map((table) => table.parentElement)
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => box.getAttribute('aria-label')),
})`;

interface Shape {
  readonly overflow: number;
  readonly titles: number;
  readonly clipped: readonly string[];
}

/** The page stays within its width, has exactly one title, and shows its tables whole where there is room. */
export async function expectShape(page: Page, what: string): Promise<void> {
  const { clipped, ...rest } = await page.evaluate<Shape>(shape);
  expect(rest, what).toEqual({ overflow: 0, titles: 1 });
  if ((page.viewportSize()?.width ?? 0) >= ROOMY_PX) expect(clipped, what).toEqual([]);
}

/** The page has its shape at 1280 and 320 px. With SCREENSHOTS set, it is also kept as pictures, light and dark. */
export async function lookAt(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 900 });
    await expectShape(page, `${name} at ${width} px`);
    await keepPicture(page, name, width);
  }
  if (before) await page.setViewportSize(before);
}

async function keepPicture(page: Page, name: string, width: number): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  await mkdir(FOLDER, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(FOLDER, `${name}-${width}-${colorScheme}.png`), fullPage: true });
  }
}

/** With SCREENSHOTS set: pictures on a phone and on a laptop, light and dark. */
export async function keepPictures(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  for (const width of [375, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await keepPicture(page, name, width);
  }
}
