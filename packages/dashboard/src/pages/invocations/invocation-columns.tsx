import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import { Link } from '@tanstack/react-router';
import { type Column, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

const TASK_CHARS = 120;

export const invocationColumns: readonly Column<HistoryItem>[] = [
  {
    id: 'task',
    header: 'Task',
    cell: ({ requestId, task }) => (
      <Link
        to="/invocations/$requestId"
        params={{ requestId }}
        className={`${rowLinkClass} block max-w-80 min-w-40 truncate`}
      >
        {task.slice(0, TASK_CHARS)}
      </Link>
    ),
  },
  { id: 'status', header: 'Status', cell: ({ status }) => <Status value={status} /> },
  {
    id: 'agent',
    header: 'Agent',
    cell: ({ agentName, agentId }) => (
      <Link
        to="/invocations"
        search={{ agentId }}
        title={agentId}
        className="relative z-10 block max-w-48 truncate rounded-sm hover:text-accent-text"
      >
        {agentName}
      </Link>
    ),
  },
  { id: 'cost', header: 'Cost', align: 'right', cell: ({ cost }) => <Money amount={cost} /> },
  { id: 'duration', header: 'Duration', align: 'right', cell: ({ duration }) => <Duration value={duration} /> },
  { id: 'created', header: 'Created', align: 'right', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];
