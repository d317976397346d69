import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { isLong } from '../../../service/test/support/long.ts';
import { faintInDark, type JudgedColours } from './dark-colours.ts';

const axePacked = gzipSync(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'))).toString(
  'base64',
);

/** To bring 550 kB of text to a page takes as much processor time as to run it: it is unpacked there. */
const unpackAxe = `new Response(
  new Blob([Uint8Array.fromBase64('${axePacked}')]).stream().pipeThrough(new DecompressionStream('gzip')),
).text().then((text) => { globalThis.axeSource = text; })`;

async function bringAxe(page: Page): Promise<void> {
  if (await page.evaluate('"axe" in globalThis')) return;
  await page.evaluate(unpackAxe);
  // As a function of the page's own world it would be refused by the policy; evaluated by the debugger it is not.
  await page.evaluate('(0, eval)(axeSource), null');
}

interface Judgement {
  readonly faults: readonly string[];
  readonly colours: readonly JudgedColours[];
  /** The view is of the dashboard, and all that axe said of it in the other theme follows from these colours. */
  readonly isByColours: boolean;
}

/** Only what is looked at comes back: the whole answer is ten times the work, and selectors are a sixth of it. */
const report = `reporter(rules, _options, answer) {
  const checksOf = (nodes) => nodes.flatMap(({ any, all, none }) => [...any, ...all, ...none]);
  const [contrast, links] = ['color-contrast', 'link-in-text-block'].map((id) => rules.find((rule) => rule.id === id));
  const seen = checksOf(contrast.passes).map(({ data }) => data).filter((data) => data?.messageKey !== 'hidden');
  const unclear = checksOf(contrast.incomplete).filter(({ data }) => ['equalRatio', 'colorParse'].includes(data?.messageKey));
  const isUnderlined = ({ any }) => any.some(({ id, result }) => id === 'link-in-text-block-style' && result);
  const colours = seen.map((data) => ({
    text: data?.fgColor ?? '', background: data?.bgColor ?? '', requiredRatio: Number.parseFloat(data?.expectedContrastRatio),
  }));
  answer({
    faults: rules.flatMap(({ id, help, violations }) => violations.map((it) =>
      [id + ': ' + help, it.node.source.slice(0, 200), ...checksOf([it]).map(({ message }) => message)].join('\\n'))),
    colours: [...new Map(colours.map((each) => [Object.values(each).join(), each])).values()],
    isByColours: document.documentElement.dataset.theme === 'light' && unclear.length === 0
      && links.passes.every(isUnderlined) && !seen.some((data) => data?.shadowColor),
  });
}`;

/** Resolves when the page has its new theme, which it gets before a frame, and all animations have ended. */
const standStill = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  Promise.all(document.getAnimations().map((each) => each.finished.catch(() => null))).then(() => null))`;

/** Rules to check in each theme: all in one, and those about colours in the other as well. */
const rulesByTheme = { light: '', dark: 'runOnly: ["color-contrast", "link-in-text-block"],' } as const;

async function judge(page: Page, colorScheme: 'light' | 'dark'): Promise<Judgement> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(standStill);
  await bringAxe(page);
  return page.evaluate<Judgement>(
    `axe.run(document, { preload: false, selectors: false, ${rulesByTheme[colorScheme]} ${report} })`,
  );
}

/**
 * No violation of what axe checks, in light and in dark. Once for each view, and for each dialog, is enough. The dark theme changes
 * nothing but the values of named colours (themes.test.ts): where those tell, dark is drawn in the long run only, or when a test asks.
 */
export async function expectAccessible(
  page: Page,
  { what = '', isDarkDrawn = isLong }: { what?: string; isDarkDrawn?: boolean } = {},
): Promise<void> {
  const { faults, colours, isByColours } = await judge(page, 'light');
  expect(faults, `${what} light`).toEqual([]);
  const faint = isByColours && !isDarkDrawn ? faintInDark(colours) : null;
  expect(faint ?? (await judge(page, 'dark')).faults, `${what} dark`).toEqual([]);
}
