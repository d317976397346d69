import { describe, expect, it } from 'vitest';
import { startWatch } from '../../service/test/support/watch.ts';
import { displayText, nameText } from './display-text.ts';

const name = nameText(40);
const text = displayText(40);

describe('a name', () => {
  it.each([
    'Weather Bot',
    'agent_7-b.2',
    'Zürich café',
    '天気ボット',
    '날씨 bot',
    'Погода и новости',
    'Weather погода',
    'Ωμέγα',
    'طقس',
    'नमस्ते',
    'Պայծառ',
    // Cherokee and Inuktitut.
    '\u13e3\u13b3\u13a9',
    '\u1403\u14c4\u1483\u144e\u1450\u1466',
    'Parrot 🦜',
    'Coder 👩‍💻',
    'Heart ❤️',
    'Step 1️⃣',
    '<b>bold</b>',
  ])('%j is taken as it is', (value) => expect(name.parse(value)).toBe(value));

  it.each([
    ['of wide letters', 'ＵＳＤＣ', 'USDC'],
    ['of mathematical letters', '𝐔𝐒𝐃𝐂', 'USDC'],
    ['with a ligature', 'ﬁnder', 'finder'],
    ['with a mark apart', 'Cafe\u0301', 'Café'],
    ['with spaces of other widths', ' A\u00a0\u2003B  C ', 'A B C'],
  ])('%s is written in plain characters', (_what, value, plain) => expect(name.parse(value)).toBe(plain));

  it.each([
    ['a zero-width space', 'USDC\u200b'],
    ['a zero-width joiner between letters', 'US\u200dDC'],
    ['a zero-width non-joiner', 'US\u200cDC'],
    ['a word joiner', 'US\u2060DC'],
    ['a byte order mark', '\ufeffUSDC'],
    ['a soft hyphen', 'US\u00adDC'],
    ['a grapheme joiner', 'US\u034fDC'],
    ['a variation selector on a letter', 'U\ufe0fSDC'],
    ['a tag', 'USDC\u{e0041}'],
    ['a Hangul filler', 'USDC\u3164'],
    ['an empty braille cell', 'USDC\u2800'],
    ['an override of direction', 'a\u202eb'],
    ['an isolate', 'a\u2066b'],
    ['a mark of direction', 'a\u200fb'],
    ['an Arabic letter mark', 'a\u061cb'],
    ['a line break', 'a\nb'],
    ['a tab', 'a\tb'],
    ['a line separator', 'a\u2028b'],
    ['a private character', 'a\ue000'],
    ['many marks on one letter', 'a\u0335\u0336\u0337\u0338\u0334'],
    ['half a character', 'a\ud800'],
    ['a Cyrillic letter in a Latin word', 'Weаther'],
    ['a Greek letter in a Latin word', 'Weαther'],
    ['an Armenian letter in a Latin word', 'Weathհr'],
    ['a Cherokee letter in a Latin word', 'ᎪBC'],
    ['a Canadian syllabic in a Latin word', '\u15eaata'],
    ['a Tifinagh letter in a Latin word', 'C\u2d54in'],
    ['Cyrillic letters only that are read as Latin', 'сосо'],
    ['Cyrillic capitals that are read as Latin, beside a Latin word', 'АСМЕ bot'],
    ['Greek letters only that are read as Latin', 'ΑΝΝΑ'],
    ['Lisu letters only that are read as Latin', '\ua4ee\ua4da\ua4df\ua4f0 bot'],
    ['Cherokee letters only that are read as Latin', '\u13aa\u13df\u13b7\u13ac'],
    ['small Cherokee letters that are read as Latin', '\uabaf\uaba9'],
    ['Coptic letters only that are read as Latin', '\u2ca4\u2c9e\u2ca2\u2ca8'],
    ['phonetic letters', 'ɡooɡle'],
    ['a check mark', 'USDC ✓'],
    ['a check mark as an emoji', 'USDC ✅'],
  ])('with %s is refused', (_what, value) => expect(name.safeParse(value).success).toBe(false));

  it('is measured as it is written', () => {
    expect(name.safeParse(`${' '.repeat(50)}a`).success).toBe(true);
    expect(name.safeParse('ﷺ'.repeat(5)).success).toBe(false);
  });
});

describe('a description', () => {
  it.each(['', 'Two\r\nlines\tand ½ a tab', 'rост ✓ ✅', 'می‌خواهم'])('%j is taken as it is', (value) =>
    expect(text.parse(value)).toBe(value),
  );
  it('is normalised', () => expect(text.parse('Cafe\u0301')).toBe('Café'));
  it.each(['a\u200bb', 'a\u202eb', 'a\u200eb', 'a\u0000b', 'a\u0085b', 'a\ud800', '\ufeff'])('%j is refused', (value) =>
    expect(text.safeParse(value).success).toBe(false),
  );
});

it.each([
  ['white space within', `a${'\t'.repeat(100_000)}a`],
  ['marks that have to be sorted', `a${'\u0301\u0323'.repeat(50_000)}`],
])('a text that is far too long is refused within a second: %s', (_what, value) => {
  const tookMs = startWatch();
  expect([name, text].map((schema) => schema.safeParse(value).success)).toEqual([false, false]);
  expect(tookMs()).toBeLessThan(1000);
});

it('a text that is too long is not looked at any further', () => {
  const issues = [name, text].map((schema) => schema.safeParse('a '.repeat(500_000)).error?.issues);
  expect(issues).toEqual([
    [expect.objectContaining({ code: 'too_big' })],
    [expect.objectContaining({ code: 'too_big' })],
  ]);
  expect(name.safeParse('\u200b'.repeat(500_000)).error?.issues).toHaveLength(1);
});
