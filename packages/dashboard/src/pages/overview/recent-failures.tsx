import type { Overview } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { type FailureGroup, groupFailures } from './group-failures.ts';

const columns: readonly Column<FailureGroup>[] = [
  {
    id: 'agent',
    header: 'Agent',
    cell: ({ requestId, agentName }) => (
      <Link
        to="/invocations/$requestId"
        params={{ requestId }}
        className={`${rowLinkClass} block max-w-48 min-w-24 truncate`}
      >
        <bdi>{agentName}</bdi>
      </Link>
    ),
  },
  {
    id: 'count',
    header: 'Times',
    align: 'right',
    cell: ({ count }) => (count === 1 ? '1' : <strong>{count}</strong>),
  },
  { id: 'code', header: 'Error', cell: ({ code }) => <Badge tone="bad">{code.replaceAll('_', ' ')}</Badge> },
  {
    id: 'message',
    header: 'Message',
    cell: ({ message }) => <span className="block max-w-80 truncate text-muted">{message}</span>,
  },
  { id: 'at', header: 'Last', align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
];

/** The last calls that failed, whatever the period; the same failure of the same agent is one row. */
export const RecentFailures = ({ failures }: { failures: Overview['recentFailures'] }) => (
  <Card
    title="Recent failures"
    isFlush
    actions={
      <Link to="/invocations" search={{ status: 'failed' }} className={linkClass}>
        View all
      </Link>
    }
  >
    <DataTable
      label="Failed calls"
      columns={columns}
      rows={groupFailures(failures)}
      rowId={({ requestId }) => requestId}
      empty={<EmptyState title="No recent failures" />}
    />
  </Card>
);
