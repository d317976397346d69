import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { contrastOf, darkColours, faintInDark, isForAccent, lightColours } from './support/dark-colours.ts';

const SRC = join(import.meta.dirname, '../src');

const filesOf = (endings: RegExp): string[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => endings.test(path))
    .map((path) => readFileSync(join(SRC, path), 'utf8'));

const styles = filesOf(/\.css$/).join('\n');
const sources = filesOf(/(?<!\.test)\.tsx?$/).join('\n');

it('the dark theme has the colours of the light one, by name, and no two that a view cannot tell apart', () => {
  const names = Object.keys(lightColours);
  expect(names.length).toBeGreaterThan(15);
  expect(Object.keys(darkColours)).toEqual(names);
  const all = names.map((name) => `${lightColours[name]} ${isForAccent(name)}`);
  expect(new Set(all).size).toBe(all.length);
});

it('the dark theme changes nothing but the values of names', () => {
  const themed = [...styles.matchAll(/[^{};]*\[data-theme[^{};]*\{([^{}]*)\}/g)];
  const declared = themed.flatMap(([, body = '']) => body.split(';').map((each) => each.trim())).filter(Boolean);
  expect(declared.length).toBeGreaterThan(30);
  expect(declared.filter((each) => !/^(--[a-z-]+|color-scheme): /.test(each))).toEqual([]);
  expect(styles).not.toContain('prefers-color-scheme');
  expect(sources).not.toMatch(/["'`\s:]dark:[a-z-]+/);
});

it('a view has no colour but those with names, as text or as background, and a shade of black behind dialogs', () => {
  const set = [...styles.matchAll(/^\s*(?:color|background|background-color): (.*);$/gm)].map(([, value]) => value);
  expect(set.length).toBeGreaterThan(3);
  expect(set.filter((value) => !/^var\(--[a-z-]+\)$/.test(value ?? ''))).toEqual([]);
  const fixed = /\b(bg|text|from|via|to)-(\[(#|rgb|hsl|okl)[^\]]*|white|black|[a-z]+-\d{2,3})\b(\/\d+)?/g;
  expect(new Set(sources.match(fixed))).toEqual(new Set(['bg-black/40']));
  const spelled = /.{0,10}["'`](#[0-9a-f]{3,8}["'`]|(rgb|hsl|oklch|oklab)a?\()/gi;
  // The pictures that stand for agents, which hold no text.
  expect((sources.match(spelled) ?? []).filter((each) => !each.includes(' fill={'))).toEqual([]);
  expect(sources).not.toMatch(/\b(text-surface|(bg|from|via|to)-on-)/);
});

it('text that is too faint in the dark theme is found by what it is in the light one', () => {
  expect(contrastOf('#000000', '#ffffff')).toBe(21);
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  const on = (text: string, background: string, requiredRatio = 4.5) =>
    faintInDark([{ text, background, requiredRatio }]);
  const { muted = '', surface = '', accent = '', line = '' } = lightColours;
  expect(on(muted, surface)).toEqual([]);
  expect(on('#ffffff', accent)).toEqual([]);
  expect(on(line, surface)).toHaveLength(1);
  expect(on(muted, surface, 21)).toHaveLength(1);
  expect(on('#123456', surface)).toBeNull();
});
