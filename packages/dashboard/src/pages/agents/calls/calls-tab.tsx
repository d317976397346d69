import type { AgentCallItem } from '@agent-network/contracts/agents/agent-calls';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { failureReasons, requestStatuses } from '@agent-network/contracts/invocations/invocations';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../../app/api-query.ts';
import { Copyable } from '../../../ui/controls/copyable.tsx';
import { Field } from '../../../ui/controls/field.tsx';
import { FilterBar } from '../../../ui/controls/filter-bar.tsx';
import { Select } from '../../../ui/controls/select.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../../ui/layout/data-table.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Pagination } from '../../../ui/layout/pagination.tsx';
import { Badge, Status } from '../../../ui/values/badge.tsx';
import { dash } from '../../../ui/values/dash.tsx';
import { Duration } from '../../../ui/values/duration.tsx';
import { linkClass } from '../../../ui/values/link.tsx';
import { Money } from '../../../ui/values/money.tsx';
import { TimeAgo } from '../../../ui/values/time-ago.tsx';
import { useNow } from '../../../ui/values/use-now.ts';
import { callerText, callPeriods, callQuery, errorText, gatewayText } from './agent-calls.ts';

/** A request of the owner's own leads to it; others are named only. */
const Request = ({ call: { requestId, isOwn } }: { call: AgentCallItem }) =>
  isOwn ? (
    <Link to="/invocations/$requestId" params={{ requestId }} className={linkClass}>
      Invocation
    </Link>
  ) : (
    <Copyable label="request id" text={requestId} short />
  );

const Failure = ({ error }: Pick<AgentCallItem, 'error'>) =>
  error === null ? (
    dash
  ) : (
    <span className="flex min-w-40 max-w-96 flex-col items-start gap-0.5">
      <Badge tone="bad">{errorText(error.code)}</Badge>
      {error.message !== null && (
        <bdi className="line-clamp-2 text-[13px] text-muted wrap-anywhere">{error.message}</bdi>
      )}
    </span>
  );

const callColumns: readonly Column<AgentCallItem>[] = [
  { header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { header: 'Status', phone: 'top', cell: ({ status }) => <Status value={status} /> },
  { header: 'Caller', phone: 'bare', cell: (call) => <span className="whitespace-nowrap">{callerText(call)}</span> },
  {
    header: 'Through',
    phone: 'none',
    cell: ({ face }) => <span className="whitespace-nowrap">{gatewayText(face)}</span>,
  },
  { header: 'Latency', phone: 'bare', align: 'right', cell: ({ latencyMs }) => <Duration value={latencyMs} /> },
  { header: 'Cost', phone: 'bare', align: 'right', cell: ({ cost }) => <Money amount={cost} /> },
  { header: 'Error', phone: 'bare', cell: ({ error }) => <Failure error={error} /> },
  { header: 'Request', phone: 'none', cell: (call) => <Request call={call} /> },
];

const PAGE_SIZE = 50;
const statuses = [
  { value: '', label: 'All' },
  ...requestStatuses.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
];
const errors = [{ value: '', label: 'Any' }, ...failureReasons.map((value) => ({ value, label: errorText(value) }))];
const periods = [{ value: '', label: 'Any time' }, ...callPeriods];

/** Every call to the agent by any caller, newest first; filters and page are in the URL. */
export function CallsTab({ agent }: { agent: OwnAgent }) {
  const { tab, status, error: reason, since, cursor } = useSearch({ from: '/shell/agents/$agentId' });
  const navigate = useNavigate({ from: '/agents/$agentId' });
  const nowMs = useNow(60_000);
  const filters = { ...(status ? { status } : {}), ...(reason ? { error: reason } : {}), ...(since ? { since } : {}) };
  const set = (change: Partial<Record<'status' | 'error' | 'since' | 'cursor', string>>) =>
    void navigate({ search: { ...(tab ? { tab } : {}), ...filters, ...change } });
  const query = { ...callQuery({ ...filters, ...(cursor ? { cursor } : {}) }, nowMs), limit: PAGE_SIZE };
  const { data, error, refetch } = useApi(
    'listAgentCalls',
    { params: { id: agent.id }, query },
    { keepsPrevious: true, refetchIntervalMs: cursor ? false : 10_000 },
  );
  const hasFilter = Object.keys(filters).length > 0;
  return (
    <div className="space-y-4">
      <FilterBar onClear={hasFilter ? () => void navigate({ search: tab ? { tab } : {} }) : undefined}>
        <Field label="Status">
          <Select value={status ?? ''} onChange={(value) => set({ status: value, error: '' })} options={statuses} />
        </Field>
        <Field label="Error">
          <Select value={reason ?? ''} onChange={(value) => set({ error: value, status: '' })} options={errors} />
        </Field>
        <Field label="Made">
          <Select value={since ?? ''} onChange={(value) => set({ since: value })} options={periods} />
        </Field>
      </FilterBar>
      <Card
        title="Calls"
        isFlush
        actions={<span className="text-[13px] text-muted">Calls from everyone. What callers sent isn't shown.</span>}
      >
        <DataTable
          label="Calls to the agent"
          columns={callColumns}
          rows={data?.calls}
          rowId={({ requestId }) => requestId}
          error={error}
          onRetry={() => void refetch()}
          empty={<EmptyState title={hasFilter ? 'No calls match these filters' : 'No calls yet'} />}
        />
        {data && (
          <Pagination
            summary="Newest first"
            hasNewer={cursor !== undefined}
            hasOlder={data.nextCursor !== null}
            onFirst={() => set({})}
            onOlder={() => data.nextCursor && set({ cursor: data.nextCursor })}
          />
        )}
      </Card>
    </div>
  );
}
