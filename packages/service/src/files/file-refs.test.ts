import { expect, it } from 'vitest';
import { fileRefsOf, requireNoFiles } from './file-refs.ts';

const A = `sha256:${'a'.repeat(64)}`;
const B = `sha256:${'b'.repeat(64)}`;

it.each([
  [{}, []],
  ['$file', []],
  [null, []],
  [{ $file: A }, [A]],
  [{ a: [{ b: { $file: A } }, { $file: B, page: 3 }], c: { $file: A } }, [A, B]],
  // Of an agent's own making.
  [{ $file: 'report.pdf' }, []],
  [{ $file: { url: 'https://files.example' } }, []],
  [{ $file: A.toUpperCase() }, []],
  [{ $file: A, url: 'https://files.example/a' }, []],
  // What is inside of a reference is its own.
  [{ $file: A, more: { $file: B } }, [A]],
])('the files of %j', (value, ids) => expect(fileRefsOf(value)).toEqual(ids));

it('a call of another node takes no files of this one', () => {
  expect(() => requireNoFiles({ a: { $file: A } })).toThrow('agents of other nodes cannot read');
  expect(() => requireNoFiles({ a: { $file: A, url: 'https://files.example/a' } })).not.toThrow();
});
