import type { StatementEntry } from '@agent-network/contracts/payments/statements';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { AssetLabel } from '../../app/chain-name.tsx';
import { client } from '../../app/client.ts';
import { useListExport } from '../../app/export/use-list-export.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { DateInput } from '../../ui/controls/date-input.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { FilterBar } from '../../ui/controls/filter-bar.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { Counterparty } from './counterparty.tsx';
import { FundDialog } from './fund-dialog.tsx';
import { MovementLink } from './movement-link.tsx';
import { Signed } from './signed.tsx';
import { entryTexts, nameTreasuries, statementCsv, statementPeriod } from './treasury.ts';
import { useTreasuries } from './use-treasuries.ts';
import { WithdrawDialog } from './withdraw/withdraw-dialog.tsx';

const statementColumns = (network: string | undefined): readonly Column<StatementEntry>[] => [
  { header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { header: 'Entry', cell: ({ type }) => <span className="font-medium whitespace-nowrap">{entryTexts[type]}</span> },
  {
    header: 'Counterparty',
    cell: ({ counterparty, counterpartyName }) => <Counterparty id={counterparty} name={counterpartyName} />,
  },
  { header: 'For', cell: (entry) => <MovementLink {...entry} /> },
  {
    header: 'Transaction',
    cell: ({ transactionHash }) => <ChainLink kind="tx" id={transactionHash} network={network} />,
  },
  {
    header: 'Amount',
    align: 'right',
    cell: ({ direction, amount }) => <Signed sign={direction === 'credit' ? '+' : '−'} amount={amount} />,
  },
  { header: 'Balance after', align: 'right', cell: ({ balance }) => <Money amount={balance} /> },
];

const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 500;

/** A treasury: its balance and its statement. */
export function TreasuryView() {
  const { treasuryId } = useParams({ from: '/shell/payments/treasuries/$treasuryId' });
  const { balance, treasuries } = useTreasuries();
  const [doing, setDoing] = useState<'fund' | 'withdraw' | null>(null);
  const treasury = treasuries?.find((each) => each.treasuryId === treasuryId);
  const other = balance?.otherTreasuries.find((each) => each.treasuryId === treasuryId);
  const shown = treasury ?? (other && nameTreasuries([other])[0]);
  const close = () => setDoing(null);
  return (
    <Page
      title={shown?.name ?? 'Treasury'}
      up={
        <Link to="/payments" className={linkClass}>
          Payments
        </Link>
      }
      aside={<Copyable label="treasury id" text={treasuryId} />}
      actions={
        treasury && (
          <>
            <Button icon="arrowUp" onClick={() => setDoing('withdraw')}>
              Withdraw
            </Button>
            <Button variant="primary" icon="plus" onClick={() => setDoing('fund')}>
              Add funds
            </Button>
          </>
        )
      }
    >
      {shown && (
        <Stats>
          <Stat label="Available" value={<Money amount={shown.available} unit={other?.symbol} />} />
          <Stat label="Held" value={<Money amount={shown.held} unit={other?.symbol} />} hint="for running calls" />
          {other && <Stat label="Network" value={<AssetLabel of={other} />} />}
        </Stats>
      )}
      <StatementCard treasuryId={treasuryId} name={shown?.name} network={other?.network} />
      {doing === 'fund' && treasuries && <FundDialog treasuries={treasuries} treasuryId={treasuryId} onClose={close} />}
      {doing === 'withdraw' && treasuries && (
        <WithdrawDialog treasuries={treasuries} treasuryId={treasuryId} onClose={close} />
      )}
    </Page>
  );
}

interface StatementOf {
  readonly treasuryId: string;
  readonly name: string | undefined;
  /** undefined: the default one. */
  readonly network: string | undefined;
}

function StatementCard({ treasuryId, name, network }: StatementOf) {
  const search = useSearch({ from: '/shell/payments/treasuries/$treasuryId' });
  const { cursor, ...days } = search;
  const navigate = useNavigate({ from: '/payments/treasuries/$treasuryId' });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: ({ cursor: _, ...before }) => ({ ...before, ...change }) });
  const params = { treasuryId };
  const period = statementPeriod(days);
  const query = { ...period, ...(cursor ? { cursor } : {}), order: 'desc', limit: PAGE_SIZE } as const;
  const { data, error, refetch } = useApi('getStatement', { params, query }, { keepsPrevious: true });
  const exported = useListExport({
    fileName: `statement-${treasuryId}`,
    columns: statementCsv({ id: treasuryId, name: name ?? '' }),
    async readPage(from, signal) {
      const page = { ...period, order: 'desc', limit: EXPORT_PAGE_SIZE, ...(from ? { cursor: from } : {}) } as const;
      const { entries, nextCursor } = await client.getStatement({ params, query: page }, { signal });
      return { rows: entries, nextCursor };
    },
  });
  const hasFilter = Object.keys(days).length > 0;
  return (
    <div className="space-y-4">
      <FilterBar onClear={hasFilter ? () => void navigate({ search: {} }) : undefined}>
        <Field label="From day (UTC)">
          <DateInput value={days.from ?? ''} onChange={(from) => set({ from })} />
        </Field>
        <Field label="To day (UTC)">
          <DateInput value={days.to ?? ''} onChange={(to) => set({ to })} />
        </Field>
      </FilterBar>
      <Card title="Statement" isFlush actions={name !== undefined && exported.buttons}>
        {exported.note}
        {data && (
          <p className="flex flex-wrap gap-x-6 border-b border-line px-4 py-2 text-muted">
            <span>
              Opening balance <Money amount={data.openingBalance} />
            </span>
            <span>
              Closing balance <Money amount={data.closingBalance} />
            </span>
          </p>
        )}
        <DataTable
          label="Entries"
          columns={statementColumns(network)}
          rows={data?.entries}
          rowId={({ entryId }) => entryId}
          error={error}
          onRetry={() => void refetch()}
          empty={<EmptyState title={hasFilter ? 'No entries in this period' : 'No entries yet'} />}
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
