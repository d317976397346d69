import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../screenshots');

/** The page stays within its width at 1280 and 320 px. With SCREENSHOTS set, it is also kept as pictures, light and dark. */
export async function lookAt(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 900 });
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow, `${name} is wider than ${width} px`).toBe(0);
    if (!process.env.SCREENSHOTS) continue;
    await mkdir(FOLDER, { recursive: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(FOLDER, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
  if (before) await page.setViewportSize(before);
}
