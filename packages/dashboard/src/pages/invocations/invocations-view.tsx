import { requestStatuses } from '@agent-network/contracts/invocations/invocations';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApi } from '../../app/api-query.ts';
import { client } from '../../app/client.ts';
import { useListExport } from '../../app/export/use-list-export.tsx';
import { FilterBar } from '../../ui/controls/filter-bar.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { SettledInput } from '../../ui/controls/settled-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { AgentFilter } from './agent-filter.tsx';
import { DayFilter } from './day-filter.tsx';
import { groupBulk } from './group-bulk.ts';
import { invocationColumns } from './invocation-columns.tsx';
import { invocationCsv } from './invocation-csv.ts';

type Status = (typeof requestStatuses)[number];

const statuses = [{ value: '', label: 'Any status' }, ...requestStatuses.map((value) => ({ value, label: value }))];

const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 100;

/** Filters of the list: the parameters of the address. */
function useFilters() {
  const search = useSearch({ from: '/shell/invocations' });
  const { status, cursor, ...rest } = search;
  const filters = { ...rest, ...(status ? { status: status as Status } : {}) };
  return { search, filters, cursor, hasFilter: Object.keys(filters).length > 0 };
}

/** Every invocation of the account, newest first; filters and page stand in the URL. */
export function InvocationsView() {
  const { search, filters, cursor, hasFilter } = useFilters();
  const navigate = useNavigate({ from: '/invocations' });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, cursor: undefined, ...change }) as typeof search });
  const query = { ...filters, limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
  const { data, error, refetch } = useApi('listInvocations', { query }, { keepsPrevious: true });
  const rows = useMemo(() => data && groupBulk(data.requests), [data]);
  const exported = useInvocationExport(filters);
  return (
    <Page
      title="Invocations"
      description="Calls made by this account and its keys, newest first."
      actions={data && data.total > 0 && exported.buttons}
    >
      {exported.note}
      <Filters search={search} set={set} onClear={hasFilter ? () => void navigate({ search: {} }) : undefined} />
      <Card isFlush>
        <DataTable
          label="Invocations"
          columns={invocationColumns}
          rows={rows}
          rowId={({ first }) => first.requestId}
          error={error}
          onRetry={() => void refetch()}
          empty={<NoInvocations hasFilter={hasFilter} />}
        />
        {data && data.total > 0 && (
          <Pagination
            summary={`${groupDigits(String(data.total))} total, ${groupDigits(data.totalCost)} USDC`}
            hasNewer={cursor !== undefined}
            hasOlder={data.nextCursor !== null}
            onFirst={() => set({})}
            onOlder={() => set({ cursor: data.nextCursor ?? undefined } as Partial<typeof search>)}
          />
        )}
      </Card>
    </Page>
  );
}

type Found = ReturnType<typeof useFilters>;

interface FiltersProps {
  readonly search: Found['search'];
  readonly set: (change: Partial<Found['search']>) => void;
  readonly onClear: (() => void) | undefined;
}

const Filters = ({ search, set, onClear }: FiltersProps) => (
  <FilterBar onClear={onClear}>
    <SettledInput
      type="search"
      aria-label="Search task or agent name"
      aria-keyshortcuts="/"
      placeholder="Task or agent name  ( / )"
      maxLength={200}
      value={search.search ?? ''}
      onChange={(text) => set({ search: text })}
      className="sm:w-64"
    />
    <AgentFilter value={search.agentId ?? ''} onChange={(agentId) => set({ agentId })} />
    <Select aria-label="Status" value={search.status ?? ''} onChange={(status) => set({ status })} options={statuses} />
    <DayFilter label="From" value={search.startDate} onChange={(startDate) => set({ startDate })} />
    <DayFilter label="To" value={search.endDate} onChange={(endDate) => set({ endDate })} />
  </FilterBar>
);

/** Saves all that the filters leave, of every page. */
const useInvocationExport = (filters: Found['filters']) =>
  useListExport({
    fileName: `invocations-${new Date().toISOString().slice(0, 10)}`,
    columns: invocationCsv,
    async readPage(cursor, signal) {
      const query = { ...filters, limit: EXPORT_PAGE_SIZE, ...(cursor ? { cursor } : {}) };
      const { requests, nextCursor } = await client.listInvocations({ query }, { signal });
      return { rows: requests, nextCursor };
    },
  });

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
