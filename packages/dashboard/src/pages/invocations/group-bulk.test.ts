import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import { expect, it } from 'vitest';
import { costOf, groupBulk, isBulk, statusCounts } from './group-bulk.ts';

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
