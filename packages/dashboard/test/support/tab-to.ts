import type { Locator, Page } from 'playwright-core';

const MAX_TABS = 80;

/** Presses Tab until this has the focus, as somebody without a mouse does. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  // Found again only when the view has drawn another in its place: names and roles of the whole page are read to find it.
  let element = await target.elementHandle();
  for (let i = 0; i < MAX_TABS; i++) {
    const place = await element.evaluate((it) => {
      if (it === it.ownerDocument.activeElement) return 'focused';
      return it.isConnected ? 'elsewhere' : 'removed';
    });
    if (place === 'focused') return;
    if (place === 'removed') element = await target.elementHandle();
    else await page.keyboard.press('Tab');
  }
  throw new Error(`${target} cannot be reached with Tab`);
}
