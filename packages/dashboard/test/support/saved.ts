import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** Content of the file that a click on a button saves. */
export async function saved(page: Page, press: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  return readFile(await download.path(), 'utf8');
}
