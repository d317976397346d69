import { expect, test } from 'vitest';
import { isBoundId, isIdOf, newAgentId } from './agent-id.ts';

const key = `0x${'ab'.repeat(20)}`;
const other = `0x${'cd'.repeat(20)}`;
const now = new Date('2026-11-22T04:00:00Z');

test('an id is shown to be of the key that made it, and of no other', () => {
  const { id, idSalt } = newAgentId(key, now);
  const salt = idSalt?.toString('hex');
  expect(id).toMatch(/^agt_[0-9a-z]{26}$/);
  expect(isBoundId(id)).toBe(true);
  expect(isIdOf(id, key, salt)).toBe(true);
  expect(isIdOf(id, key.toUpperCase().replace('0X', '0x'), salt)).toBe(true);
  expect(isIdOf(id, other, salt)).toBe(false);
  expect(isIdOf(id, key, newAgentId(key, now).idSalt?.toString('hex'))).toBe(false);
  expect(isIdOf(id, key, undefined)).toBe(false);
  expect(isIdOf(id, null, salt)).toBe(false);
  expect(isIdOf(`${id.slice(0, 13)}z${id.slice(14)}`, key, salt)).toBe(false);
});

test('ids of a later time sort behind, and an id without a key claims nothing', () => {
  const [first, second] = [newAgentId(key, now), newAgentId(key, new Date(now.getTime() + 1))];
  expect(first.id < second.id).toBe(true);
  const { id, idSalt } = newAgentId(null, now);
  expect(id).toMatch(/^agt_[0-9a-z]{26}$/);
  expect([isBoundId(id), idSalt]).toEqual([false, null]);
  expect(id < first.id).toBe(true);
  expect(isIdOf(id, key, '00'.repeat(16))).toBe(false);
});
