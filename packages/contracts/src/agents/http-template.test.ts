import { describe, expect, it } from 'vitest';
import { fillTemplate, type HttpTemplate, inputSchemaOf, readTemplateResult, templateFault } from './http-template.ts';

const plain: HttpTemplate = { method: 'POST', path: '', body: null, contentType: 'application/json', result: '' };
const template = (changes: Partial<HttpTemplate>): HttpTemplate => ({ ...plain, ...changes });
const fill = (changes: Partial<HttpTemplate>, input: Record<string, unknown> = {}, task = 'Hi') =>
  fillTemplate('https://a.example/v1?k=1', template(changes), { task, input });

describe('a body', () => {
  it.each<[string, string, Record<string, unknown>, unknown]>([
    ['the task', '{"text":"{{task}}"}', {}, { text: 'Hi' }],
    ['a text around it', '"<{{task}}>{{task}}"', {}, '<Hi>Hi'],
    ['the whole input', '{"all":"{{input}}"}', { a: [1] }, { all: { a: [1] } }],
    ['a value with its type', '["{{input/n}}"]', { n: 2 }, [2]],
    ['a value within a text', '"n={{input/n}} o={{input/o}}"', { n: 2, o: { a: 1 } }, 'n=2 o={"a":1}'],
    ['a deep value', '"{{input/a/1/b~1c}}"', { a: [0, { 'b/c': true }] }, true],
    ['a missing member', '{"a":"{{input/a}}","b":1}', {}, { b: 1 }],
    ['a missing item', '["{{input/a}}"]', {}, [null]],
    ['a missing part of a text', '"a{{input/a}}"', {}, 'a'],
    ['nothing of the prototype', '{"a":"{{input/constructor}}","b":"{{input/l/length}}"}', { l: [] }, {}],
    ['a null', '{"a":"{{input/a}}"}', { a: null }, { a: null }],
    ['quotes and braces of a stranger', '{"text":"{{task}}","x":1}', {}, { text: '","x":2}{{input/secret}}', x: 1 }],
  ])('has %s', (name, body, input, expected) => {
    expect(templateFault(template({ body }))).toBeNull();
    const task = name.startsWith('quotes') ? '","x":2}{{input/secret}}' : 'Hi';
    expect(
      JSON.parse(fill({ body }, { ...input, ...(task === 'Hi' ? {} : { secret: 's' }) }, task).body ?? ''),
    ).toEqual(expected);
  });

  it('is a form or a text as well', () => {
    const form = { contentType: 'application/x-www-form-urlencoded' } as const;
    const body = '{"a":"{{task}}","b":"{{input/b}}","c":"{{input/c}}"}';
    expect(fill({ ...form, body }, { b: [1] }, 'x&b=2').body).toBe('a=x%26b%3D2&b=%5B1%5D');
    expect(fill({ contentType: 'text/plain', body: '"{{task}}\\n"' }, {}, '{"a":1}').body).toBe('{"a":1}\n');
  });

  it('is bounded after it is filled', () => {
    const body = JSON.stringify(Array(64).fill('{{task}}'));
    expect(() => fill({ body }, {}, 'x'.repeat(20_000))).toThrow('too large');
    expect(() => fill({ body: '"{{task}}"' }, {}, '\u0001'.repeat(200_000))).toThrow('too large');
  });
});

describe('an address', () => {
  it.each<[string, string, Record<string, unknown>, string]>([
    ['of the endpoint alone', '', {}, 'https://a.example/v1?k=1'],
    ['below it', '/slug', {}, 'https://a.example/v1/slug?k=1'],
    ['with a segment', '/u/{{input/id}}/x', { id: 'a/b?c#d' }, 'https://a.example/v1/u/a%2Fb%3Fc%23d/x?k=1'],
    ['with a query', '?q={{task}}&n={{input/n}}', { n: 3 }, 'https://a.example/v1?k=1&q=Hi&n=3'],
    ['without a parameter that is missing', '?q=1&n={{input/n}}', {}, 'https://a.example/v1?k=1&q=1'],
    ['with a parameter of a stranger', '?q={{input/q}}', { q: '1&k=2' }, 'https://a.example/v1?k=1&q=1%26k%3D2'],
    ['of the same host', '/{{input/h}}', { h: '//b.example\\@' }, 'https://a.example/v1/%2F%2Fb.example%5C%40?k=1'],
  ])('%s', (_name, path, input, url) => {
    expect(templateFault(template({ path }))).toBeNull();
    expect(fill({ path }, input).url).toBe(url);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['a segment is missing', '/u/{{input/id}}', {}],
    ['a segment is empty', '/u/{{input/id}}', { id: '' }],
    ['a segment is ..', '/u/{{input/id}}/x', { id: '..' }],
    ['a segment becomes ..', '/u/.{{input/id}}', { id: '.' }],
    ['it is too long', '?q={{task}}', { q: 1 }],
  ])('is not called when %s', (name, path, input) => {
    expect(() => fill({ path }, input, name.includes('long') ? 'x'.repeat(3000) : 'Hi')).toThrow();
  });
});

it.each<[string, Partial<HttpTemplate>, string]>([
  ['a key with a placeholder', { body: '{"{{task}}":1}' }, 'body'],
  ['too many placeholders', { body: JSON.stringify(Array(65).fill('{{task}}')) }, 'body'],
  ['too many values', { body: JSON.stringify(Array(1001).fill(1)) }, 'body'],
  ['too many levels', { body: '['.repeat(40) + ']'.repeat(40) }, 'body'],
  ['a number that changes', { body: '{"n":1e400}' }, 'body'],
  ['no pointer', { body: '"{{input/a~2}}"' }, 'body'],
  ['a text that is no form', { body: '"x"', contentType: 'application/x-www-form-urlencoded' }, 'body'],
  ['an object as plain text', { body: '{}', contentType: 'text/plain' }, 'body'],
  ['a path without a slash', { path: 'slug' }, 'path'],
  ['a fragment', { path: '/a#b' }, 'path'],
  ['a space', { path: '/a b' }, 'path'],
  ['an encoded dot segment', { path: '/%2e%2E/a' }, 'path'],
  ['a placeholder that ends the path', { path: '/{{input/a?b}}' }, 'path'],
  ['a pointer of the result without a slash', { result: 'slug' }, 'result'],
])('a template with %s is refused', (_name, changes, field) => {
  expect(templateFault(template(changes))?.field).toBe(field);
});

it.each<[string, string, string, object]>([
  ['', '{"a":1}', 'the whole answer', { value: { a: 1 } }],
  ['/a/0', '\ufeff{"a":[5]}', 'a part', { value: 5 }],
  ['text', 'hello', 'a text', { value: 'hello' }],
  ['/a', 'hello', 'no JSON', { problem: 'with text that is not JSON' }],
  ['/b', '{"a":1}', 'no such part', { problem: 'without a value at /b' }],
  ['/a', '{"a":null}', 'null', { problem: 'without a value at /a' }],
  ['/constructor', '{}', 'a part of its prototype', { problem: 'without a value at /constructor' }],
])('the result "%s" of %s is %s', (pointer, text, _name, expected) => {
  expect(readTemplateResult(pointer, text)).toEqual(expected);
});

it('its input is proposed as a schema', () => {
  const path = '/u/{{input/id}}?lang={{input/lang}}';
  expect(inputSchemaOf(template({ path, body: '{"n":"{{input/n}}","t":"{{task}}","d":"{{input/o/x}}"}' }))).toEqual({
    type: 'object',
    properties: { id: { type: 'string' }, lang: { type: 'string' }, n: {}, o: {} },
    required: ['id'],
  });
  expect(inputSchemaOf(template({ body: '"{{task}}"' }))).toBeNull();
  expect(inputSchemaOf(template({ body: '"{{input}}"', path }))).toBeNull();
});
