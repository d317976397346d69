import { expect, test } from 'vitest';
import { hostUrls } from './host-urls.ts';

test('a URL of one host stays as it is', () => {
  const url = 'postgresql://user:p%40ss@host:5432/name?sslmode=require';
  expect(hostUrls(url)).toEqual([url]);
});

test('several hosts are one URL each, with the same user, database and settings', () => {
  expect(
    hostUrls('postgresql://user:p%40ss@a:5432,b,[::1]:5434/name?target_session_attrs=read-write&sslmode=require'),
  ).toEqual([
    'postgresql://user:p%40ss@a:5432/name?sslmode=require',
    'postgresql://user:p%40ss@b/name?sslmode=require',
    'postgresql://user:p%40ss@[::1]:5434/name?sslmode=require',
  ]);
  expect(hostUrls('postgres://a,b/name')).toEqual(['postgres://a/name', 'postgres://b/name']);
});

test('a node that writes asks for no server that only reads', () => {
  expect(() => hostUrls('postgres://a,b/name?target_session_attrs=standby')).toThrow(/must be read-write/);
});
