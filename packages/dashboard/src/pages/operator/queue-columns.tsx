import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { isLate } from './alarms.ts';
import { kindText } from './figures.ts';

type Queue = OperatorStatus['queues'][number];

/** Counting stops there. */
const MAX_COUNTED = 10_000;

export const queueColumns: readonly Column<Queue>[] = [
  {
    id: 'kind',
    header: 'Waiting or in progress',
    cell: ({ kind }) => <span className="whitespace-nowrap">{kindText(kind)}</span>,
  },
  {
    id: 'depth',
    header: 'Depth',
    align: 'right',
    cell: ({ depth }) => `${groupDigits(String(depth))}${depth >= MAX_COUNTED ? ' or more' : ''}`,
  },
  {
    id: 'oldest',
    header: 'Oldest',
    align: 'right',
    cell: (queue) => (
      <span className={isLate(queue) ? 'font-medium text-warn' : undefined}>
        <Duration value={queue.oldestS === null ? null : queue.oldestS * 1000} />
      </span>
    ),
  },
];
