import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { failureReasons, requestStatuses } from '@agent-network/contracts/invocations/invocations';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../../app/api-query.ts';
import { Field } from '../../../ui/controls/field.tsx';
import { FilterBar } from '../../../ui/controls/filter-bar.tsx';
import { Select } from '../../../ui/controls/select.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { DataTable } from '../../../ui/layout/data-table.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Pagination } from '../../../ui/layout/pagination.tsx';
import { useNow } from '../../../ui/values/use-now.ts';
import { callPeriods, callQuery } from './agent-calls.ts';
import { callColumns } from './call-columns.tsx';

const PAGE_SIZE = 50;
const words = (value: string) => value.replaceAll('_', ' ');
const statuses = [{ value: '', label: 'All' }, ...requestStatuses.map((value) => ({ value, label: value }))];
const errors = [{ value: '', label: 'Any' }, ...failureReasons.map((value) => ({ value, label: words(value) }))];
const periods = [{ value: '', label: 'Any time' }, ...callPeriods];

/** Every call to the agent by any caller, newest first; filters and page stand in the URL. */
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
