import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart } from '../../ui/chart/chart.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { percentText } from '../../ui/values/percent.ts';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

const SHOWN = 20;

/** Failed calls of this account, and failed health checks of the node. */
export function FailuresTab({ agent }: { agent: OwnAgent }) {
  const query = { agentId: agent.id, status: 'failed', limit: SHOWN } as const;
  const { data, error, refetch } = useApi('listInvocations', { query });
  return (
    <div className="space-y-5">
      <p className="text-muted">
        {groupDigits(String(agent.failures7))} of {groupDigits(String(agent.calls7))} calls from all callers failed in
        the last 7 days.
      </p>
      <Card
        title="Your failed calls"
        isFlush
        actions={
          <Link to="/invocations" search={{ agentId: agent.id, status: 'failed' }} className={linkClass}>
            View all
          </Link>
        }
      >
        <DataTable
          label="Failed calls"
          columns={columns}
          rows={data?.requests}
          rowId={({ requestId }) => requestId}
          error={error}
          onRetry={() => void refetch()}
          empty={<EmptyState title="None of your calls failed" />}
        />
      </Card>
      <HealthCard agentId={agent.id} />
    </div>
  );
}

const columns: readonly Column<HistoryItem>[] = [
  {
    id: 'task',
    header: 'Task',
    cell: ({ requestId, task }) => (
      <Link
        to="/invocations/$requestId"
        params={{ requestId }}
        className={`${rowLinkClass} block max-w-80 min-w-32 truncate`}
      >
        {task.slice(0, 120)}
      </Link>
    ),
  },
  { id: 'why', header: 'Error', cell: ({ errorCode }) => <Badge tone="bad">{errorCode?.replaceAll('_', ' ')}</Badge> },
  { id: 'refund', header: 'Refund', align: 'right', cell: ({ refund }) => <Money amount={refund} /> },
  { id: 'at', header: 'When', align: 'right', cell: ({ completedAt }) => <TimeAgo at={completedAt} /> },
];

function HealthCard({ agentId }: { agentId: string }) {
  const theme = useShownTheme();
  const { data, error, refetch } = useApi('getAgentHealth', { params: { id: agentId }, query: { days: '7' } });
  return (
    <Card
      title="Node health checks, 7 days"
      actions={data && <span className="text-[13px] text-muted">uptime {percentText(data.uptime)}</span>}
    >
      {data ? (
        <BarChart
          title="Checks by day"
          theme={theme}
          heightPx={160}
          timesMs={data.buckets.map(({ from }) => Date.parse(from))}
          format={(value) => (Number.isInteger(value) ? groupDigits(String(value)) : '')}
          series={[
            { label: 'Checks', tone: 'good', values: data.buckets.map(({ checks }) => checks) },
            { label: 'Failed', tone: 'bad', values: data.buckets.map(({ failed }) => failed) },
          ]}
        />
      ) : error ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton className="h-40 w-full" />
      )}
    </Card>
  );
}
