import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cutMedia } from './cut-media.ts';

const bytes = randomBytes(70_000);
const base64 = bytes.toString('base64');
const small = bytes.subarray(0, 3000).toString('base64');
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** What is left of a value, with `$file` for each medium, and the media. */
function cut(body: Buffer) {
  const light = cutMedia(body);
  for (const { medium, fill } of light?.media ?? []) fill({ $file: medium.mediaType });
  return light && { value: light.value, media: light.media.map(({ medium }) => medium) };
}

it.each<[string, unknown, unknown, string | null]>([
  ['a data URL', { a: `data:image/png;base64,${base64}` }, { a: { $file: 'image/png' } }, null],
  ['one with parameters', [`data:text/plain;charset=utf-8;base64,${base64}`], [{ $file: 'text/plain' }], null],
  ['one without a type', [`data:;base64,${base64}`], [{ $file: 'application/octet-stream' }], null],
  [
    'a part of A2A 1.0',
    { raw: base64, mediaType: 'audio/wav', filename: '../a b.wav' },
    { mediaType: 'audio/wav', filename: '../a b.wav', $file: 'audio/wav' },
    'a b.wav',
  ],
  ['one without a type', { raw: base64 }, { $file: 'application/octet-stream' }, null],
  [
    'a file of A2A 0.3',
    { kind: 'file', file: { bytes: base64, mimeType: 'a/b', name: 'c' } },
    { kind: 'file', file: { mimeType: 'a/b', name: 'c', $file: 'a/b' } },
    'c',
  ],
  [
    'an image of MCP',
    { type: 'image', data: base64, mimeType: 'image/png' },
    { type: 'image', mimeType: 'image/png', $file: 'image/png' },
    null,
  ],
  [
    'a resource of MCP',
    { resource: { uri: 'x:', mimeType: 'application/pdf', blob: base64 } },
    { resource: { uri: 'x:', mimeType: 'application/pdf', $file: 'application/pdf' } },
    null,
  ],
  ['a picture of OpenAI', { data: [{ b64_json: base64 }] }, { data: [{ $file: 'image/png' }] }, null],
])('%s is cut out', (_what, value, rest, name) => {
  const { media, value: left } = cut(json({ result: value })) ?? {};
  expect(left).toEqual({ result: rest });
  expect(media?.map((medium) => [medium.bytes.equals(bytes), medium.name])).toEqual([[true, name]]);
});

it.each<[string, unknown]>([
  ['short ones', { a: `data:image/png;base64,${small}`, raw: small, mediaType: 'a/b' }],
  ['a text that could be base64', { text: base64, data: 'ACGT'.repeat(20_000) }],
  ['what is no base64', { data: `${base64.slice(0, 90_000)}!${base64.slice(90_000)}`, mimeType: 'image/png' }],
])('%s stay as they are', (_what, value) => {
  expect(cut(json(value))).toBeNull();
});

it('texts around a medium stay as they are, also those that look like one', () => {
  const value = { a: 'é "\\', data: 'ACGT'.repeat(20_000), b: [`data:image/png;base64,${base64}`, { c: 1 }] };
  expect(cut(json(value))?.value).toEqual({ ...value, b: [{ $file: 'image/png' }, { c: 1 }] });
  const escaped = JSON.stringify(value).replaceAll('/', '\\/');
  expect(cut(Buffer.from(escaped))?.media[0]?.bytes.equals(bytes)).toBe(true);
});

describe('JSON that is too long', () => {
  const url = `data:image/png;base64,${base64}`;
  const nothing = Buffer.alloc(1_100_000, ' ');
  it.each<[string, Buffer]>([
    ['without its media', json([url, 'x'.repeat(1_100_000)])],
    ['with texts that are no media', json([url, ...Array.from({ length: 12 }, () => ({ data: base64 }))])],
    ['as small texts', json(Array.from({ length: 300_000 }, () => 'x'))],
    ['as escapes', Buffer.from(`"${'\\"'.repeat(600_000)}"`)],
    ['as nothing', nothing],
    ['in its keys', json(Object.fromEntries(Array.from({ length: 12 }, (_, nth) => [`${url}${nth}`, 1])))],
    ['as deep lists around a medium', Buffer.from(`${'['.repeat(600_000)}"${url}"${']'.repeat(600_000)}`)],
    ['as no JSON', Buffer.from(`{"a":"${'data:image/png;base64,'}${base64.repeat(12)}"`)],
  ])('%s is refused', (_what, body) => {
    expect(() => cut(body)).toThrow('too large');
  });

  it('holds ten megabytes of media', () => {
    const large = Buffer.alloc(10_000_000, bytes).toString('base64');
    expect(cut(json({ a: `data:image/png;base64,${large}` }))?.media[0]?.bytes.byteLength).toBe(10_000_000);
  });
});
