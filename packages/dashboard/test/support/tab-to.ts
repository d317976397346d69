import type { Locator, Page } from 'playwright-core';

const MOST = 80;

/** Presses Tab until this has the focus, as somebody without a mouse does. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let i = 0; i < MOST; i++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${target} cannot be reached with Tab`);
}
