import { expect, it } from 'vitest';
import { safeHref } from './link.tsx';

it('lets links lead to http and https', () => {
  expect(safeHref('https://example.com/a?b#c')).toBe('https://example.com/a?b#c');
  expect(safeHref('http://127.0.0.1:4020')).toBe('http://127.0.0.1:4020/');
});

it.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'blob:https://example.com/1',
  'file:///etc/passwd',
  '//example.com',
  '/dashboard',
  '',
])('makes no link of %j', (text) => expect(safeHref(text)).toBeNull());
