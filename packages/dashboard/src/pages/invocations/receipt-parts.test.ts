import { expect, it } from 'vitest';
import type { DetailedRecord } from './invocation.ts';
import { checksOf, receiptParts } from './receipt-parts.ts';

const record = (changes: Partial<DetailedRecord>) =>
  ({
    ...{ task: 'x', result: { a: 1 }, status: 'completed', detail: { input: { b: 2 }, context: null } },
    ...changes,
  }) as DetailedRecord;

it.each<[string, Partial<DetailedRecord>, object, readonly string[]]>([
  ['a completed call: all of it', {}, { task: 'x', input: { b: 2 }, context: null, result: { a: 1 } }, []],
  [
    'a failed one: no result',
    { status: 'failed', result: null },
    { task: 'x', input: { b: 2 }, context: null },
    ['result'],
  ],
  [
    'one with removed contents: the task',
    { contentRemovedAt: '2026-01-01T00:00:00Z' },
    { task: 'x' },
    ['input', 'context', 'result'],
  ],
  [
    'one whose task was shortened: no contents',
    { contentRemovedAt: '2026-01-01T00:00:00Z', task: 'x'.repeat(1000) },
    {},
    ['task', 'input', 'context', 'result'],
  ],
])('checks of %s', (_what, changes, parts, left) => {
  expect(receiptParts(record(changes))).toEqual(parts);
  const checks = checksOf(receiptParts(record(changes)));
  expect(checks.left).toEqual(left);
  expect(checks.made.at(-1)).toContain(Object.keys(parts).join(', '));
});
