import { describe, expect, it } from 'vitest';
import { csvField, csvText } from './csv.ts';

describe('a field', () => {
  it.each([
    ['=1+1', `"'=1+1"`],
    ['=HYPERLINK("https://evil.example","pay")', `"'=HYPERLINK(""https://evil.example"",""pay"")"`],
    ['+1', `"'+1"`],
    ['-1', `"'-1"`],
    ['-2.50', `"'-2.50"`],
    ['@SUM(A1:A9)', `"'@SUM(A1:A9)"`],
    ['\t=1', `"'\t'=1"`],
    ['\tname', `"'\tname"`],
    ['\rname', `"'\rname"`],
    ['\nname', `"'\nname"`],
    ['  =1', `"'  =1"`],
    ['\u200b=1', `"'\u200b=1"`],
    ['\ufeff@x', `"'\ufeff@x"`],
    ['＝1+1', `"'＝1+1"`],
    ['＠x', `"'＠x"`],
    ['x;=1+1', `"x;'=1+1"`],
    ['x; \u200b@SUM(A1:A9);-1', `"x;' \u200b@SUM(A1:A9);'-1"`],
    ['x;"=1+1"', `"x;'""=1+1"""`],
    ['x\t+1', `"x\t'+1"`],
    ['x\r\n=1', `"x\r\n'=1"`],
    ['x;\t=1', `"x;\t'=1"`],
    ['x\n\n \r=1', `"x\n\n \r'=1"`],
  ])('%j is no formula', (value, field) => expect(csvField(value)).toBe(field));

  it.each([
    ['12.50', '"12.50"'],
    ['0x8f3C', '"0x8f3C"'],
    ['a,b', '"a,b"'],
    ['a; b = c', '"a; b = c"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['a=b', '"a=b"'],
    ['2026-11-21T10:00:00.000Z', '"2026-11-21T10:00:00.000Z"'],
    ['Zoë 東京 🛰', '"Zoë 東京 🛰"'],
    ['', '""'],
    [null, ''],
    [undefined, ''],
  ])('%j keeps what it says', (value, field) => expect(csvField(value)).toBe(field));
});

it('of very many empty lines is made in time by its length', () => {
  const lines = '\n'.repeat(400_000);
  expect(csvField(lines)).toBe(`"'${lines}"`);
});

it('is a table with a line for each row, as UTF-8', () => {
  const columns = [
    ['name', (row: { name: string }) => row.name],
    ['nothing', () => null],
  ] as const;
  expect(csvText(columns, [{ name: 'é' }, { name: '=x' }])).toBe('\ufeff"name","nothing"\r\n"é",\r\n"\'=x",\r\n');
});
