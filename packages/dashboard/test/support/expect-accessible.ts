import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

async function violationsOf(page: Page): Promise<string[]> {
  // As a function of the page's own world it would be refused by the policy; evaluated by the debugger it is not.
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    'axe.run(document, { resultTypes: ["violations"] })',
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html.slice(0, 200)}\n${failureSummary}`),
  );
}

/** Done when nothing fades or moves any more: it would be in the way of judging contrast. */
const standStill = 'Promise.all(document.getAnimations().map((each) => each.finished.catch(() => null)))';

/** No violation of what axe checks, in light and in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(standStill);
    expect(await violationsOf(page), colorScheme).toEqual([]);
  }
}
