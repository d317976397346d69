import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import { requestStatuses } from '@agent-network/contracts/invocations/invocations';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApi } from '../../app/api-query.ts';
import { client } from '../../app/client.ts';
import type { CsvColumn } from '../../app/export/csv.ts';
import { useListExport } from '../../app/export/use-list-export.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { DateInput } from '../../ui/controls/date-input.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { FilterBar } from '../../ui/controls/filter-bar.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { SettledInput } from '../../ui/controls/settled-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { AgentLabel } from './agent-name.tsx';
import { costOf, groupBulk, type InvocationRow, isBulk, statusCounts } from './invocation.ts';

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
      className="relative z-10 block max-w-48 truncate rounded-sm max-sm:max-w-32 hover:text-accent-text"
    >
      <bdi>{agentName}</bdi>
    </Link>
  );
};

const invocationColumns: readonly Column<InvocationRow>[] = [
  { header: 'Task', cell: (row) => <Task row={row} /> },
  { header: 'Status', phone: 'top', cell: (row) => <Statuses row={row} /> },
  { header: 'Agent', phone: 'bare', cell: (row) => <Agent row={row} /> },
  { header: 'Cost', align: 'right', phone: 'bare', cell: (row) => <Money amount={costOf(row)} /> },
  {
    header: 'Duration',
    align: 'right',
    phone: 'none',
    cell: (row) => <Duration value={isBulk(row) ? null : row.first.duration} />,
  },
  { header: 'Created', align: 'right', phone: 'bare', cell: ({ first }) => <TimeAgo at={first.createdAt} /> },
];

/** Columns of an exported list of invocations: fields of the API under their own names. */
const invocationCsv: readonly CsvColumn<HistoryItem>[] = (
  [
    'requestId',
    'bulkId',
    'createdAt',
    'completedAt',
    'status',
    'errorCode',
    'agentName',
    'agentId',
    'task',
    'paymentMethod',
    'cost',
    'refund',
    'duration',
  ] as const
).map((name) => [name, (item) => item[name]]);

type RequestStatus = (typeof requestStatuses)[number];

const statuses = [
  { value: '', label: 'Any status' },
  ...requestStatuses.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
];

const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 100;

/** Filters of the list: the parameters of the address. */
function useFilters() {
  const search = useSearch({ from: '/shell/invocations' });
  const { status, cursor, ...rest } = search;
  const filters = { ...rest, ...(status ? { status: status as RequestStatus } : {}) };
  return { search, filters, cursor, hasFilter: Object.keys(filters).length > 0 };
}

/** Every invocation of the account, newest first; filters and page are in the URL. */
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
            summary={`${groupDigits(data.total)} total, ${groupDigits(data.totalCost)} USDC`}
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

interface OneAgentProps {
  readonly agentId: string;
  readonly onClear: () => void;
}

/** The agent that the list is limited to, by a link with its name. */
const OneAgent = ({ agentId, onClear }: OneAgentProps) => (
  <Button icon="close" title={agentId} onClick={onClear}>
    <span className="sr-only">Show all agents, not only </span>
    <AgentLabel id={agentId} />
  </Button>
);

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
    <Select aria-label="Status" value={search.status ?? ''} onChange={(status) => set({ status })} options={statuses} />
    <Field label="From day (UTC)">
      <DateInput value={search.startDate ?? ''} onChange={(startDate) => set({ startDate })} />
    </Field>
    <Field label="To day (UTC)">
      <DateInput value={search.endDate ?? ''} onChange={(endDate) => set({ endDate })} />
    </Field>
    {search.agentId && <OneAgent agentId={search.agentId} onClear={() => set({ agentId: '' })} />}
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
      command={`curl -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\\n     -H 'Content-Type: application/json' \\\n     -d '{"task":"hello"}' \\\n     ${location.origin}/invoke/$AGENT_ID`}
    >
      Calls made with this account's keys appear here.
    </EmptyState>
  );
