import { describe, expect, it } from 'vitest';
import { namedText, textOf } from './text-of.ts';

describe('the text of a result', () => {
  it.each([
    ['a string', 'hello', 'hello'],
    ['an empty string', '', ''],
    ['text before content', { content: 'b', text: 'a' }, 'a'],
    ['the first that is a string', { text: 1, output: 'c', message: 'e' }, 'c'],
    ['message last', { message: 'e', answer: 'd' }, 'd'],
    ['JSON when no field is a string', { text: { a: 1 }, other: 'x' }, '{"text":{"a":1},"other":"x"}'],
    ['JSON of a list', ['a', { text: 'b' }], '["a",{"text":"b"}]'],
    ['JSON of a number', 7, '7'],
    ['null of nothing', undefined, 'null'],
  ])('is %s', (_name, result, text) => {
    expect(textOf(result)).toBe(text);
  });

  it('is never taken from what an object inherits', () => {
    expect(namedText(Object.create({ text: 'inherited' }))).toBeNull();
  });
});
