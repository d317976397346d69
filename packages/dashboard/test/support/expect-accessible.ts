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

async function violationsOf(page: Page, rules: string): Promise<string[]> {
  // As a function of the page's own world it would be refused by the policy; evaluated by the debugger it is not.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource);
  // Only what is wrong comes back, named by its HTML: the whole answer is ten times the work, and selectors are a sixth of it.
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ["violations"], preload: false, selectors: false, ${rules} }).then((all) => all.violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html.slice(0, 200)}\n${failureSummary}`),
  );
}

/** Done when the page has seen its new theme, which it is told of before a frame, and nothing fades any more. */
const standStill = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  Promise.all(document.getAnimations().map((each) => each.finished.catch(() => null))).then(() => null))`;

/** What is judged in each theme: everything once, and what depends on colours in the other as well. */
const rulesByTheme = { light: '', dark: 'runOnly: ["color-contrast", "link-in-text-block"]' } as const;

/** No violation of what axe checks, in light and in dark. Once for each view, and for each dialog, is enough. */
export async function expectAccessible(
  page: Page,
  { what = '', themes = ['light', 'dark'] }: { what?: string; themes?: readonly ('light' | 'dark')[] } = {},
): Promise<void> {
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(standStill);
    expect(await violationsOf(page, rulesByTheme[colorScheme]), `${what} ${colorScheme}`).toEqual([]);
  }
}
