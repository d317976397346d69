import type { Overview } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

type Failure = Overview['recentFailures'][number];

const columns: readonly Column<Failure>[] = [
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
  { id: 'code', header: 'Error', cell: ({ code }) => <Badge tone="bad">{code.replaceAll('_', ' ')}</Badge> },
  {
    id: 'message',
    header: 'Message',
    isMinor: true,
    cell: ({ message }) => <span className="block max-w-80 truncate text-muted">{message}</span>,
  },
  { id: 'at', header: 'When', align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
];

/** The last calls that failed, whatever the period. */
export const RecentFailures = ({ failures }: { failures: readonly Failure[] }) => (
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
      rows={failures}
      rowId={({ requestId }) => requestId}
      empty={<EmptyState title="No recent failures" />}
    />
  </Card>
);
