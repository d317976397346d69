import { it as test } from 'vitest';
import { missingBrowser } from './find-browser.ts';

if (missingBrowser) process.stderr.write(`Browser tests are skipped: ${missingBrowser}\n`);

/** A test that drives a browser. Skipped, with the reason on standard error, where there is none. */
export const it = test.skipIf(missingBrowser !== null);
