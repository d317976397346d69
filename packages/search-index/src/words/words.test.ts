import { expect, test } from 'vitest';
import { queryWordsOf, termsOf, wantedOf, wordsOf } from './words.ts';

test('words are runs of letters and digits, once each, whatever their case and width', () => {
  expect(wordsOf('Ünïted—GPT-4o, gpt_4O! ＡＢＣ 翻訳')).toEqual(['ünïted', 'gpt', '4o', 'gpt4o', 'abc', '翻訳']);
  expect(wordsOf(" '\\&|!():* ")).toEqual([]);
  expect(wordsOf('x'.repeat(100))).toEqual(['x'.repeat(64)]);
});

test('a compound is its parts and one word, and one word of a query', () => {
  expect(wordsOf('camelCase, e-mail')).toEqual(['camel', 'case', 'camelcase', 'e', 'mail', 'email']);
  expect(wordsOf('parseJSONFile ÜberGröße')).toEqual([
    'parse',
    'json',
    'file',
    'parsejsonfile',
    'über',
    'größe',
    'übergröße',
  ]);
  expect(queryWordsOf('GitHub e-mail 3D - x')).toEqual(['git-hub', 'e-mail', '3d', 'x']);
});

test('in scripts without spaces each pair of characters is a word', () => {
  expect(wordsOf('文書翻訳エージェント')).toEqual(expect.arrayContaining(['文書', '翻訳', 'エー', 'ント']));
  expect(wordsOf('GPT翻訳v2 語 แปลภาษา')).toEqual(['gpt', '翻訳', 'v2', '語', 'แป', 'ปล', 'ลภ', 'ภา', 'าษ', 'ษา']);
  expect(wordsOf('𠮷野家')).toEqual(['𠮷野', '野家']);
});

test('a word is marked for where it stands', () => {
  const agent = { name: 'Red', description: 'a red fox', capabilities: ['text'], metadata: { tags: ['fast fox'] } };
  expect(termsOf(agent)).toEqual(['=text', 'red', 'fast', 'fox', 'a', '+red', '+fast', '+fox', '#red']);
});

test('a condition that follows from the others is left out', () => {
  const wanted = (any?: string[], all?: string[]) => wantedOf({ capabilities: { any, all } });
  expect(wanted(['a'])).toEqual({ any: [], all: ['a'], texts: [] });
  expect(wanted(['a', 'a'], ['b'])).toEqual({ any: [], all: ['b', 'a'], texts: [] });
  expect(wanted(['a', 'b'], ['b', 'b'])).toEqual({ any: [], all: ['b'], texts: [] });
  expect(wanted(['a', 'b'], ['c'])).toEqual({ any: ['a', 'b'], all: ['c'], texts: [] });
  expect(wantedOf({})).toEqual({ any: [], all: [], texts: [] });
  expect(wantedOf({ home: 'node_a' })).toEqual({ any: [], all: [], texts: ['@home:node_a'] });
});
