import { type PaymentItem, paymentTypes } from '@agent-network/contracts/payments/payments';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { client } from '../../app/client.ts';
import type { CsvColumn } from '../../app/export/csv.ts';
import { useListExport } from '../../app/export/use-list-export.tsx';
import { DateInput } from '../../ui/controls/date-input.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { FilterBar } from '../../ui/controls/filter-bar.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { dash } from '../../ui/values/dash.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { Counterparty } from './counterparty.tsx';
import { MovementLink } from './movement-link.tsx';
import { Signed } from './signed.tsx';
import type { NamedTreasury } from './treasury.ts';

type PaymentType = (typeof paymentTypes)[number];

/** Label of each payment type. */
const paymentTexts: Readonly<Record<PaymentType, string>> = {
  deposit: 'Deposit',
  charge: 'Call, from treasury',
  earning: 'Earning',
  refund: 'Refund',
  x402: 'Call, from wallet',
  withdrawal: 'Withdrawal',
};

const signs: Readonly<Record<PaymentType, '+' | '−'>> = {
  deposit: '+',
  earning: '+',
  refund: '+',
  charge: '−',
  x402: '−',
  withdrawal: '−',
};

/** Direction of a payment: in or out; null: it failed, and nothing moved. */
const signOf = ({ type, status }: Pick<PaymentItem, 'type' | 'status'>): '+' | '−' | null =>
  status === 'failed' ? null : signs[type];

const directions = { '+': 'in', '−': 'out', '': null } as const;

/** Columns of the history as a file: the fields of the API, and the name of the treasury. */
const paymentCsv = (treasuryName: (id: string | null) => string | null): readonly CsvColumn<PaymentItem>[] => [
  ['createdAt', (row) => row.createdAt],
  ['type', (row) => row.type],
  ['status', (row) => row.status],
  ['direction', (row) => directions[signOf(row) ?? '']],
  ['amount', (row) => row.amount],
  ['fee', (row) => row.fee],
  ['currency', () => 'USDC'],
  ['treasury', (row) => treasuryName(row.treasuryId)],
  ['treasuryId', (row) => row.treasuryId],
  ['counterparty', (row) => row.counterparty],
  ['counterpartyName', (row) => row.counterpartyName],
  ['requestId', (row) => row.requestId],
  ['withdrawalId', (row) => row.withdrawalId],
  ['transactionHash', (row) => row.transactionHash],
  ['paymentId', (row) => row.paymentId],
];

const paymentColumns = (treasuryName: (id: string | null) => string | null): readonly Column<PaymentItem>[] => [
  { header: 'Type', cell: ({ type }) => <span className="font-medium whitespace-nowrap">{paymentTexts[type]}</span> },
  { header: 'Status', cell: ({ status }) => <Status value={status} /> },
  {
    header: 'Amount',
    align: 'right',
    cell: ({ amount, fee, ...row }) => (
      <>
        <Signed sign={signOf(row)} amount={amount} />
        {fee !== undefined && <div className="text-[13px] whitespace-nowrap text-muted">after a fee of {fee}</div>}
      </>
    ),
  },
  {
    header: 'Treasury',
    cell: ({ treasuryId }) => (
      <span className="line-clamp-2 min-w-24 max-w-48 wrap-anywhere">{treasuryName(treasuryId) ?? dash}</span>
    ),
  },
  {
    header: 'Counterparty',
    cell: ({ counterparty, counterpartyName }) => <Counterparty id={counterparty} name={counterpartyName} />,
  },
  { header: 'For', cell: (row) => <MovementLink {...row} /> },
  { header: 'Transaction', cell: ({ transactionHash }) => <ChainLink kind="tx" id={transactionHash} /> },
  { header: 'When', align: 'right', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];

const types = [
  { value: '', label: 'All types' },
  ...paymentTypes.map((value) => ({ value, label: paymentTexts[value] })),
];

const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 100;

/** Every movement of the account's money, newest first; filters and page are in the URL. */
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
          <DateInput value={days.startDate ?? ''} onChange={(startDate) => set({ startDate })} />
        </Field>
        <Field label="To day (UTC)">
          <DateInput value={days.endDate ?? ''} onChange={(endDate) => set({ endDate })} />
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
            summary={`${groupDigits(data.total)} total`}
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
