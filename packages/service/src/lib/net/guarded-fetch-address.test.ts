import { describe, expect, test } from 'vitest';
import { checkUrl, isAllowedAddress, isLoopback } from './guarded-fetch-address.ts';

const publicRules = { allowPrivate: false };
const localRules = { allowPrivate: true };

const loopbackSpellings = [
  '127.0.0.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  'localhost',
  'LOCALHOST.',
  'api.localhost',
];

const neverAllowed = [
  '0.0.0.0',
  '[::]',
  '169.254.169.254',
  '[::ffff:169.254.169.254]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '100.64.0.1',
  '100.100.100.200',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[4000::1]',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '192.0.0.1',
  '198.18.0.1',
  '[2001:db8::1]',
  '[ff02::1]',
];

const privateHosts = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '[fd00::1]'];
const privateNames = ['agent', 'printer.local', 'db.internal', 'db.internal.', 'nas.lan', 'x.home.arpa'];

describe('the public rules', () => {
  test.each([...loopbackSpellings, ...neverAllowed, ...privateHosts, ...privateNames])('refuse https://%s/', (host) => {
    expect(checkUrl(`https://${host}/`, publicRules)).toMatchObject({ ok: false, kind: 'blocked' });
  });

  test.each([
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'https://user@example.com/',
    'https://:pw@example.com/',
    'https://example.com:22/',
    'https://example.com:25/',
    'https://example.com:0/',
    '/relative',
    'https://',
    '',
    `https://example.com/${'x'.repeat(2048)}`,
  ])('refuse %s', (url) => {
    expect(checkUrl(url, publicRules)).toMatchObject({ ok: false, kind: 'invalid_url' });
  });

  test.each([
    'https://example.com/hook?x=1',
    'https://example.com:8443/',
    'https://example.com:4020/',
    'https://93.184.216.34/',
    'https://[2606:4700::1111]/',
    'https://bücher.example/',
  ])('let %s through', (url) => {
    expect(checkUrl(url, publicRules)).toMatchObject({ ok: true });
  });
});

describe('the local rules', () => {
  test.each([...loopbackSpellings, ...privateHosts, ...privateNames])('let http://%s:22/ through', (host) => {
    expect(checkUrl(`http://${host}:22/`, localRules)).toMatchObject({ ok: true });
  });

  test.each(neverAllowed)('still refuse http://%s/', (host) => {
    expect(checkUrl(`http://${host}/`, localRules)).toMatchObject({ ok: false, kind: 'blocked' });
  });

  test('still refuse user info and other schemes', () => {
    expect(checkUrl('http://a:b@127.0.0.1/', localRules)).toMatchObject({ ok: false, kind: 'invalid_url' });
    expect(checkUrl('ws://127.0.0.1/', localRules)).toMatchObject({ ok: false, kind: 'invalid_url' });
  });
});

test('a text that is no address is not allowed', () => {
  expect(isAllowedAddress('example.com', true)).toBe(false);
  expect(isAllowedAddress('', true)).toBe(false);
});

test('loopback is known in every spelling a socket reports, and nothing else is taken for it', () => {
  expect(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'].map(isLoopback)).toEqual([true, true, true, true]);
  expect(['10.0.0.1', '::', '93.184.216.34', 'unknown', 'localhost'].some(isLoopback)).toBe(false);
});
