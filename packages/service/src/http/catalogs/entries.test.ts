import { describe, expect, it } from 'vitest';
import { invalid } from '../../lib/app-error.ts';
import { readListFilter } from './ard-list.ts';
import { announcedManifest, catalogLink, publisherOf, serverName } from './entries.ts';

const URN = /^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/;
const gateways = new Set(['a2a', 'mcp'] as const);

it.each([
  ['https://node.example', 'node.example', 'example.node/x'],
  ['https://Node.Example:8443', 'node.example', 'example.node/x'],
  ['http://127.0.0.1:4020', 'localhost', 'localhost/x'],
  ['http://[::1]:4020', 'localhost', 'localhost/x'],
  ['http://[2001:db8::1]', '-2001-db8--1-', '-2001-db8--1-/x'],
])('the publisher of %s is %s', (baseUrl, publisher, name) => {
  expect([publisherOf(baseUrl), serverName(baseUrl, 'x')]).toEqual([publisher, name]);
  expect(`urn:air:${publisher}:agents:agt_1`).toMatch(URN);
});

it('a node announces its catalog under a public name only, and if it has one', () => {
  const announces = (baseUrl: string, served: ReadonlySet<'a2a' | 'mcp' | 'x402'> = gateways) =>
    announcedManifest({ baseUrl, gateways: served }) !== null;
  expect(announces('https://node.example')).toBe(true);
  expect(announces('https://node.example', new Set(['x402']))).toBe(false);
  for (const host of ['localhost', '127.0.0.1', '10.0.0.7', '[2001:db8::1]', 'node', 'node.local'])
    expect([host, announces(`https://${host}`)]).toEqual([host, false]);
  expect(catalogLink({ baseUrl: 'https://node.example', gateways })).toEqual({
    link: '</.well-known/ard.json>; rel="ard"',
  });
});

const none = { displayName: null, type: null, publisherId: null, createdAfter: null, updatedAfter: null };

describe('the filter of a list', () => {
  it('has conditions joined by AND', () => {
    expect(readListFilter(`displayName = 'It\\'s AND not \\\\'`)).toEqual({ ...none, displayName: `It's AND not \\` });
    expect(
      readListFilter(
        ` type='a/b'  AND publisherId = 'x.example' AND updatedAfter > '2026-11-01' AND createdAfter>'2026-11-01T10:00:00+01:00'`,
      ),
    ).toEqual({
      ...none,
      type: 'a/b',
      publisherId: 'x.example',
      updatedAfter: new Date('2026-11-01T00:00:00Z'),
      createdAfter: new Date('2026-11-01T09:00:00Z'),
    });
  });

  it.each([
    '',
    '   ',
    'type',
    `type > 'x'`,
    `updatedAfter = '2026-11-01'`,
    `type = 'x' AND`,
    `type = 'x' OR type = 'y'`,
    `type = 'x' AND type = 'y'`,
    `type = "x"`,
    `owner = 'x'`,
    `type = 'x'; drop`,
    `updatedAfter > 'yesterday'`,
    `updatedAfter > '2026-99-01'`,
    `type = 'x`,
  ])('refuses %j', (text) => {
    expect(() => readListFilter(text)).toThrow(invalid('filter', '').message.split(':')[0]);
  });
});
