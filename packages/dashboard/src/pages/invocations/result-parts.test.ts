import { expect, it } from 'vitest';
import { filesOf, partsOf } from './result-parts.ts';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';

it.each<[string, unknown, string | null, readonly string[]]>([
  ['a text', 'hello', 'hello', []],
  ['a picture', PNG, null, [PNG]],
  ['a field with text', { text: 'hello', pages: 2 }, 'hello', []],
  ['text and picture', { answer: 'here', image: PNG }, 'here', [PNG]],
  ['parts of MCP', { content: [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }] }, null, [PNG]],
  ['a picture that can run scripts', { image: 'data:image/svg+xml;base64,PHN2Zz4=' }, null, []],
  ['a picture elsewhere', { image: 'https://tracker.example/a.png' }, null, []],
  ['markup in place of data', 'data:image/png;base64,"><script>', 'data:image/png;base64,"><script>', []],
  ['no text', { slug: 'a-b' }, null, []],
  ['a list', ['a', 'b'], null, []],
  ['nothing', null, null, []],
])('%s', (_name, result, text, images) => expect(partsOf(result)).toEqual({ text, images }));

it('shows at most eight pictures, and looks at a part of a huge value', () => {
  expect(partsOf(Array(20).fill(PNG)).images).toHaveLength(8);
  expect(partsOf([...Array(100_000).fill({}), PNG]).images).toEqual([]);
});

it('finds the files of a result, each once, by ids of the node alone', () => {
  const fileId = `sha256:${'a'.repeat(64)}`;
  const file = { $file: fileId, name: 'a.png', mediaType: 'image/png', size: 5 };
  const others = [{ $file: 'sha256:x' }, { $file: { url: 'https://a.example/' } }, { $file: 7 }];
  expect(filesOf({ first: file, again: [file, ...others] })).toEqual([
    { fileId, name: 'a.png', mediaType: 'image/png', size: 5 },
  ]);
  expect(filesOf({ $file: fileId })).toEqual([
    { fileId, name: 'file', mediaType: 'application/octet-stream', size: null },
  ]);
});
