import type { BulkRecord } from '@agent-network/contracts/invocations/bulk';
import { Link, useParams } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { JsonBlock } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { AgentName } from './agent-name.tsx';

type BulkRequest = BulkRecord['requests'][number];

const columns: readonly Column<BulkRequest>[] = [
  {
    header: 'Invocation',
    cell: ({ requestId }) => (
      <Link to="/invocations/$requestId" params={{ requestId }} className={`${rowLinkClass} font-mono text-[13px]`}>
        {requestId}
      </Link>
    ),
  },
  { header: 'Agent', phone: 'bare', cell: ({ agentId }) => <AgentName id={agentId} /> },
  { header: 'Status', phone: 'top', cell: ({ status }) => <Status value={status} /> },
];

/** One task for several agents: the status of each, and the overall result. */
export function BulkView() {
  const { bulkId } = useParams({ from: '/shell/bulk/$bulkId' });
  const { data, error, refetch } = useApi('getBulk', { params: { bulkId } });
  return (
    <Page
      title="Bulk invocation"
      up={
        <Link to="/invocations" className={linkClass}>
          Invocations
        </Link>
      }
      aside={
        <>
          {data && <Status value={data.status} />}
          <Copyable label="bulk id" text={bulkId} />
        </>
      }
    >
      {data && (
        <Stats>
          <Stat label="Strategy" value={data.strategy.replaceAll('_', ' ')} />
          <Stat
            label="Cost"
            value={<Money amount={data.cost ?? data.estimatedCost} />}
            hint={data.cost ? undefined : 'up to'}
          />
          <Stat label="Created" value={<TimeAgo at={data.createdAt} />} />
          <Stat label="Finished" value={<TimeAgo at={data.completedAt} />} />
        </Stats>
      )}
      <Card title="Invocations" isFlush>
        <DataTable
          label="Bulk invocations"
          columns={columns}
          rows={data?.requests}
          rowId={({ requestId }) => requestId}
          error={error}
          onRetry={() => void refetch()}
          empty={null}
        />
      </Card>
      {data?.winner && (
        <Card title="Result">
          <JsonBlock label="Result" value={data.result} />
        </Card>
      )}
    </Page>
  );
}
