import { expect, it } from 'vitest';
import { blocksOf, isMarkdown, piecesOf } from './markdown-blocks.ts';

it('finds headings, lists, code, quotes and paragraphs', () => {
  const text = '# Title\nOne\ntwo\n\n- a\n- b\n1. c\n> said\n```js\n# no title\n```\nend';
  expect(blocksOf(text)).toEqual([
    { kind: 'heading', text: 'Title' },
    { kind: 'paragraph', text: 'One\ntwo' },
    { kind: 'list', isOrdered: false, items: ['a', 'b'] },
    { kind: 'list', isOrdered: true, items: ['c'] },
    { kind: 'quote', text: 'said' },
    { kind: 'code', text: '# no title' },
    { kind: 'paragraph', text: 'end' },
  ]);
  expect(blocksOf('```\nnever closed')).toEqual([{ kind: 'code', text: 'never closed' }]);
});

it('finds bold, code and links, and leaves markup as text', () => {
  expect(piecesOf('a **b** `c` [d](https://e.example) <b>f</b>')).toEqual([
    { kind: 'text', text: 'a ' },
    { kind: 'bold', text: 'b' },
    { kind: 'text', text: ' ' },
    { kind: 'code', text: 'c' },
    { kind: 'text', text: ' ' },
    { kind: 'link', text: 'd', href: 'https://e.example' },
    { kind: 'text', text: ' <b>f</b>' },
  ]);
});

it.each([
  ['plain words, and a * star', false],
  ['# Title', true],
  ['- item', true],
  ['some **bold** word', true],
  ['[click](javascript:alert(1))', false],
  ['# '.repeat(30_000), false],
])('%#', (text, expected) => expect(isMarkdown(text)).toBe(expected));

it('takes no long time for texts that were made to', () => {
  const startMs = performance.now();
  for (const sign of ['[', '**', '`', '> ', '- ']) {
    const text = sign.repeat(50_000 / sign.length);
    isMarkdown(text);
    for (const block of blocksOf(text)) if ('text' in block) piecesOf(block.text);
  }
  expect(performance.now() - startMs).toBeLessThan(5000);
});
