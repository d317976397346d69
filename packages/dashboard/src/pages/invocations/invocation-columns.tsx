import { Link } from '@tanstack/react-router';
import { type Column, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { costOf, type InvocationRow, isBulk, statusCounts } from './group-bulk.ts';

const TASK_CHARS = 120;
const taskClass = `${rowLinkClass} block max-w-80 truncate`;

const Task = ({ row }: { row: InvocationRow }) => {
  const { requestId, bulkId, task } = row.first;
  const text = <bdi>{task.slice(0, TASK_CHARS)}</bdi>;
  if (bulkId === null || !isBulk(row))
    return (
      <Link to="/invocations/$requestId" params={{ requestId }} className={`${taskClass} min-w-40`}>
        {text}
      </Link>
    );
  return (
    <span className="flex items-center gap-2">
      <Link to="/bulk/$bulkId" params={{ bulkId }} className={taskClass}>
        {text}
      </Link>
      <Badge>bulk</Badge>
    </span>
  );
};

const Statuses = ({ row }: { row: InvocationRow }) => {
  if (!isBulk(row)) return <Status value={row.first.status} />;
  return (
    <span className="flex flex-wrap gap-1">
      {[...statusCounts(row)].map(([status, count]) => (
        <span key={status} className="flex items-center gap-1 whitespace-nowrap">
          {count} <Status value={status} />
        </span>
      ))}
    </span>
  );
};

const Agent = ({ row }: { row: InvocationRow }) => {
  const { agentName, agentId } = row.first;
  const names = new Set(row.items.map((each) => each.agentName));
  if (names.size > 1) return <span title={[...names].join(', ')}>{names.size} agents</span>;
  return (
    <Link
      to="/invocations"
      search={{ agentId }}
      title={agentId}
      className="relative z-10 block max-w-48 truncate rounded-sm hover:text-accent-text"
    >
      <bdi>{agentName}</bdi>
    </Link>
  );
};

export const invocationColumns: readonly Column<InvocationRow>[] = [
  { id: 'task', header: 'Task', cell: (row) => <Task row={row} /> },
  { id: 'status', header: 'Status', cell: (row) => <Statuses row={row} /> },
  { id: 'agent', header: 'Agent', cell: (row) => <Agent row={row} /> },
  { id: 'cost', header: 'Cost', align: 'right', cell: (row) => <Money amount={costOf(row)} /> },
  {
    id: 'duration',
    header: 'Duration',
    align: 'right',
    cell: (row) => <Duration value={isBulk(row) ? null : row.first.duration} />,
  },
  { id: 'created', header: 'Created', align: 'right', cell: ({ first }) => <TimeAgo at={first.createdAt} /> },
];
