import { requestStatuses } from '@agent-network/contracts/invocations/invocations';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { FilterBar } from '../../ui/controls/filter-bar.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { AgentFilter } from './agent-filter.tsx';
import { DayFilter } from './day-filter.tsx';
import { invocationColumns } from './invocation-columns.tsx';

type Status = (typeof requestStatuses)[number];

const statuses = [{ value: '', label: 'Any status' }, ...requestStatuses.map((value) => ({ value, label: value }))];

const PAGE_SIZE = 50;

/** Every invocation of the account, newest first; filters and page stand in the URL. */
export function InvocationsView() {
  const search = useSearch({ from: '/shell/invocations' });
  const navigate = useNavigate({ from: '/invocations' });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, cursor: undefined, ...change }) as typeof search });
  const { status, ...rest } = search;
  const query = { ...rest, limit: PAGE_SIZE, ...(status ? { status: status as Status } : {}) };
  const { data, error, refetch } = useApi('listInvocations', { query }, { keepsPrevious: true });
  const hasFilter = Object.keys(search).some((name) => name !== 'cursor');
  return (
    <Page title="Invocations" description="Calls made by this account and its keys, newest first.">
      <FilterBar onClear={hasFilter ? () => void navigate({ search: {} }) : undefined}>
        <AgentFilter value={search.agentId ?? ''} onChange={(agentId) => set({ agentId })} />
        <Select
          aria-label="Status"
          value={status ?? ''}
          onChange={(value) => set({ status: value })}
          options={statuses}
        />
        <DayFilter label="From" value={search.startDate} onChange={(startDate) => set({ startDate })} />
        <DayFilter label="To" value={search.endDate} onChange={(endDate) => set({ endDate })} />
      </FilterBar>
      <Card isFlush>
        <DataTable
          label="Invocations"
          columns={invocationColumns}
          rows={data?.requests}
          rowId={({ requestId }) => requestId}
          error={error}
          onRetry={() => void refetch()}
          empty={<NoInvocations hasFilter={hasFilter} />}
        />
        {data && data.total > 0 && (
          <Pagination
            summary={`${groupDigits(String(data.total))} total, ${groupDigits(data.totalCost)} USDC`}
            hasNewer={search.cursor !== undefined}
            hasOlder={data.nextCursor !== null}
            onFirst={() => set({})}
            onOlder={() => set({ cursor: data.nextCursor ?? undefined } as Partial<typeof search>)}
          />
        )}
      </Card>
    </Page>
  );
}

const NoInvocations = ({ hasFilter }: { hasFilter: boolean }) =>
  hasFilter ? (
    <EmptyState title="No results for these filters" />
  ) : (
    <EmptyState
      title="No invocations yet"
      command={`curl -H 'Authorization: Bearer $AGENT_NETWORK_KEY' \\\n     -H 'Content-Type: application/json' \\\n     -d '{"task":"hello"}' \\\n     ${location.origin}/invoke/$AGENT_ID`}
    >
      Calls made with this account's keys appear here.
    </EmptyState>
  );
