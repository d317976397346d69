import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import { expect, it } from 'vitest';
import { checksOf, costOf, type DetailedRecord, groupBulk, isBulk, receiptParts, statusCounts } from './invocation.ts';

const item = (requestId: string, bulkId: string | null, status: HistoryItem['status'], cost: string | null) =>
  ({ requestId, bulkId, status, cost }) as HistoryItem;

it('shows the invocations of a bulk request as one row, with exact sums; others stay as they are', () => {
  const rows = groupBulk([
    item('5', 'b', 'completed', '0.10'),
    item('4', null, 'completed', '1.00'),
    item('3', 'b', 'failed', '0.00'),
    item('2', 'b', 'completed', '0.20'),
    item('1', 'c', 'processing', null),
  ]);
  expect(rows.map((row) => [row.first.requestId, row.items.length, isBulk(row), costOf(row)])).toEqual([
    ['5', 3, true, '0.30'],
    ['4', 1, false, '1.00'],
    ['1', 1, false, null],
  ]);
  expect(rows[0] && [...statusCounts(rows[0])]).toEqual([
    ['completed', 2],
    ['failed', 1],
  ]);
});

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
