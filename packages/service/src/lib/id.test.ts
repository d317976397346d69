import { afterEach, expect, test, vi } from 'vitest';
import { newId } from './id.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('an id is its prefix, ten characters of time and sixteen random ones', () => {
  expect(newId('req')).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
});

test('ids made in later milliseconds sort after earlier ones', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const ids = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, 9_999_999_999_999].map((ms) => {
    vi.setSystemTime(ms);
    return newId('evt');
  });
  expect([...ids].sort()).toEqual(ids);
});

test('the time part is the millisecond, as in a ULID', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(1_469_918_176_385);
  expect(newId('agt').slice(4, 14)).toBe('01aryz6s41');
});

test('a hundred thousand ids of one millisecond differ, and every random place varies', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(1);
  const ids = Array.from({ length: 100_000 }, () => newId('pay'));
  expect(new Set(ids).size).toBe(ids.length);
  for (let place = 14; place < 30; place++) {
    expect(new Set(ids.map((id) => id[place])).size).toBe(32);
  }
});
