import type { Locator, Page } from 'playwright-core';
import { tabTo } from './tab-to.ts';

export interface Keyboard {
  /** Goes to a view by its shortcut: a click in the navigation for who has a mouse. */
  go(key: string): Promise<void>;
  /** Goes there with Tab and presses Enter: a click for who has a mouse. */
  press(target: Locator): Promise<void>;
  /** Goes there with Tab and types. */
  type(target: Locator, text: string): Promise<void>;
  readonly clicks: number;
}

/** A user without a mouse; counts the clicks. */
export function byKeyboard(page: Page): Keyboard {
  let clicks = 0;
  async function reach(target: Locator): Promise<void> {
    await target.waitFor();
    const isNowhere = await page.evaluate<boolean>('document.activeElement === document.body');
    const skip = page.getByRole('link', { name: 'Skip to content' });
    const isInMain = await target.evaluate((element) => element.closest('main') !== null);
    if (isNowhere && isInMain && (await skip.count()) > 0) {
      await tabTo(page, skip);
      await page.keyboard.press('Enter');
    }
    await tabTo(page, target);
  }
  return {
    async go(key) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      clicks += 1;
    },
    async press(target) {
      await reach(target);
      await page.keyboard.press('Enter');
      clicks += 1;
    },
    async type(target, text) {
      await reach(target);
      await page.keyboard.type(text);
    },
    get clicks() {
      return clicks;
    },
  };
}
