import { readFileSync } from 'node:fs';

/** Text of a view as axe judged it in the light theme. */
export interface JudgedColours {
  readonly text: string;
  readonly background: string;
  readonly requiredRatio: number;
}

const css = readFileSync(new URL('../../src/styles.css', import.meta.url), 'utf8');

/** The colours of a theme by their names. */
const coloursOf = (selector: string): Readonly<Record<string, string>> => {
  const [, block = ''] = css.split(`\n${selector} {\n`);
  const declared = block.slice(0, block.indexOf('}')).matchAll(/^ {2}--([a-z-]+): (#[0-9a-f]{6});$/gm);
  return Object.fromEntries([...declared].map(([, name, value]) => [name, value]));
};

export const lightColours = coloursOf(':root');
export const darkColours = coloursOf(':root[data-theme="dark"]');

/** For text on the accent only: no background, and no other text, has such a colour. */
export const isForAccent = (name: string): boolean => name.startsWith('on-');

function darkOf(value: string, isText: boolean): string | undefined {
  const names = Object.keys(lightColours).filter((name) => lightColours[name] === value);
  const name = names.find((each) => isForAccent(each) === isText) ?? names.find((each) => isText || !isForAccent(each));
  return name && darkColours[name];
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** How far two colours stand apart, as WCAG 2 counts it: from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Texts that are too faint in the dark theme; null when a colour is of no theme, so that the view itself must be checked. */
export function faintInDark(judged: readonly JudgedColours[]): string[] | null {
  const faint: string[] = [];
  for (const { text, background, requiredRatio } of judged) {
    const [darkText, darkBackground] = [darkOf(text, true), darkOf(background, false)];
    if (!darkText || !darkBackground) return null;
    const ratio = contrastOf(darkText, darkBackground);
    if (ratio < requiredRatio) faint.push(`${darkText} on ${darkBackground}: ${ratio.toFixed(2)} of ${requiredRatio}`);
  }
  return faint;
}
