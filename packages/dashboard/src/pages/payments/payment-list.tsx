import { paymentTypes } from '@agent-network/contracts/payments/payments';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApi } from '../../app/api-query.ts';
import { client } from '../../app/client.ts';
import { useListExport } from '../../app/export/use-list-export.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { FilterBar } from '../../ui/controls/filter-bar.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { type PaymentType, paymentCsv, paymentTexts } from './payment.ts';
import { paymentColumns } from './payment-columns.tsx';
import type { NamedTreasury } from './treasury.ts';

const types = [
  { value: '', label: 'All types' },
  ...paymentTypes.map((value) => ({ value, label: paymentTexts[value] })),
];

const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 100;

/** Every movement of the account's money, newest first; filters and page stand in the URL. */
export function PaymentList({ treasuries }: { treasuries: readonly NamedTreasury[] | undefined }) {
  const search = useSearch({ from: '/shell/payments' });
  const { tab: _, cursor, ...filters } = search;
  const navigate = useNavigate({ from: '/payments' });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: ({ cursor: _, ...before }) => ({ ...before, ...change }) });
  const { type, ...days } = filters;
  const query = { ...days, ...(type ? { type: type as PaymentType } : {}) };
  const { data, error, refetch } = useApi(
    'listPayments',
    { query: { ...query, ...(cursor ? { cursor } : {}), limit: PAGE_SIZE } },
    { keepsPrevious: true },
  );
  const treasuryName = useMemo(() => {
    const names = new Map(treasuries?.map(({ treasuryId, name }) => [treasuryId, name]));
    return (id: string | null) => (id === null ? null : (names.get(id) ?? id));
  }, [treasuries]);
  const columns = useMemo(() => paymentColumns(treasuryName), [treasuryName]);
  const exported = useListExport({
    fileName: `payments-${new Date().toISOString().slice(0, 10)}`,
    columns: paymentCsv(treasuryName),
    async readPage(from, signal) {
      const page = { ...query, limit: EXPORT_PAGE_SIZE, ...(from ? { cursor: from } : {}) };
      const { payments, nextCursor } = await client.listPayments({ query: page }, { signal });
      return { rows: payments, nextCursor };
    },
  });
  const hasFilter = Object.keys(filters).length > 0;
  return (
    <div className="space-y-4">
      <FilterBar onClear={hasFilter ? () => void navigate({ search: { tab: 'history' } }) : undefined}>
        <Field label="Type">
          <Select value={type ?? ''} onChange={(value) => set({ type: value })} options={types} />
        </Field>
        <Field label="From day (UTC)">
          <TextInput type="date" value={days.startDate ?? ''} onChange={(startDate) => set({ startDate })} />
        </Field>
        <Field label="To day (UTC)">
          <TextInput type="date" value={days.endDate ?? ''} onChange={(endDate) => set({ endDate })} />
        </Field>
      </FilterBar>
      <Card title="Movements" isFlush actions={treasuries && exported.buttons}>
        {exported.note}
        <DataTable
          label="Payments"
          columns={columns}
          rows={data?.payments}
          rowId={({ paymentId }) => paymentId}
          error={error}
          onRetry={() => void refetch()}
          empty={<NoPayments hasFilter={hasFilter} />}
        />
        {data && data.total > 0 && (
          <Pagination
            summary={`${groupDigits(String(data.total))} total`}
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

const NoPayments = ({ hasFilter }: { hasFilter: boolean }) =>
  hasFilter ? (
    <EmptyState title="No results for these filters" />
  ) : (
    <EmptyState
      title="No payments yet"
      command={`curl -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\\n     ${location.origin}/payments/history`}
    >
      Payments appear here once you add funds or call an agent.
    </EmptyState>
  );
