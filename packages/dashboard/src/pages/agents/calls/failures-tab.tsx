import type { FailureGroup } from '@agent-network/contracts/agents/agent-calls';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApi } from '../../../app/api-query.ts';
import { useShownTheme } from '../../../app/shell/theme.ts';
import { BarChart, countText } from '../../../ui/chart/chart.tsx';
import { Copyable } from '../../../ui/controls/copyable.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../../ui/layout/data-table.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Waiting } from '../../../ui/layout/waiting.tsx';
import { dash } from '../../../ui/values/dash.tsx';
import { linkClass } from '../../../ui/values/link.tsx';
import { groupDigits } from '../../../ui/values/money.tsx';
import { percentText } from '../../../ui/values/percent.ts';
import { TimeAgo } from '../../../ui/values/time-ago.tsx';
import { errorText } from './agent-calls.ts';

/** Failed calls by any caller in groups, and failed health checks of the node. */
export function FailuresTab({ agent }: { agent: OwnAgent }) {
  const call = { params: { id: agent.id }, query: { days: '7' } } as const;
  const { data, error, refetch } = useApi('listAgentErrors', call);
  const columns = useMemo(() => columnsOf(agent.id), [agent.id]);
  return (
    <div className="space-y-5">
      <p className="text-muted">
        {groupDigits(agent.failures7)} of {groupDigits(agent.calls7)} calls from all callers failed in the last 7 days.
      </p>
      <Card
        title="Errors, 7 days"
        isFlush
        actions={
          <Link
            to="/agents/$agentId"
            params={{ agentId: agent.id }}
            search={{ tab: 'calls', status: 'failed' }}
            className={linkClass}
          >
            View all
          </Link>
        }
      >
        <DataTable
          label="Errors by reason"
          columns={columns}
          rows={data?.groups}
          rowId={({ code, message }) => `${code} ${message}`}
          error={error}
          onRetry={() => void refetch()}
          empty={<EmptyState title="No call has failed" />}
        />
      </Card>
      <HealthCard agentId={agent.id} />
    </div>
  );
}

const columnsOf = (agentId: string): readonly Column<FailureGroup>[] => [
  {
    header: 'Error',
    cell: ({ code }) => (
      <Link
        to="/agents/$agentId"
        params={{ agentId }}
        search={{ tab: 'calls', error: code }}
        className={`${linkClass} whitespace-nowrap`}
      >
        {errorText(code)}
      </Link>
    ),
  },
  {
    header: 'Message',
    phone: 'bare',
    cell: ({ message }) =>
      message === null ? dash : <bdi className="line-clamp-3 min-w-40 max-w-96 wrap-anywhere">{message}</bdi>,
  },
  {
    header: 'Times',
    phone: 'top',
    align: 'right',
    cell: ({ count, isAtLeast }) => `${groupDigits(count)}${isAtLeast ? '+' : ''}`,
  },
  { header: 'Last', phone: 'bare', align: 'right', cell: ({ lastAt }) => <TimeAgo at={lastAt} /> },
  { header: 'Example', phone: 'none', cell: ({ requestId }) => <Copyable label="request id" text={requestId} short /> },
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
          format={countText}
          series={[
            { label: 'Answered', tone: 'good', values: data.buckets.map(({ checks, failed }) => checks - failed) },
            { label: 'Failed', tone: 'bad', values: data.buckets.map(({ failed }) => failed) },
          ]}
        />
      ) : (
        <Waiting error={error} onRetry={() => void refetch()} height="h-40" />
      )}
    </Card>
  );
}
