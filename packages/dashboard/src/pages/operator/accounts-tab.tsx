import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { type AccountSort, accountSorts } from '@agent-network/contracts/network/operator-accounts';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { client } from '../../app/client.ts';
import type { CsvColumn } from '../../app/export/csv.ts';
import { useListExport } from '../../app/export/use-list-export.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { FilterBar } from '../../ui/controls/filter-bar.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { SettledInput } from '../../ui/controls/settled-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { AccountPanel } from './account-panel.tsx';

type Account = DataOf<Api['listOperatorAccounts']>['accounts'][number];

const sortTexts: Readonly<Record<AccountSort, string>> = {
  newest: 'Newest first',
  calls: 'Most calls',
  spent: 'Spent most',
  earned: 'Earned most',
  available: 'Highest balance',
  lastSeen: 'Last seen',
};

const sortOf = (text: string | undefined): AccountSort => accountSorts.find((each) => each === text) ?? 'newest';

const shortAddress = (address: string) => `${address.slice(0, 8)}…${address.slice(-4)}`;

const columns: readonly Column<Account>[] = [
  {
    header: 'Account',
    cell: ({ accountId, address, suspension }) => (
      <span className="flex flex-wrap items-center gap-2">
        <Link
          from="/operator"
          to="/operator"
          search={(before) => ({ ...before, account: accountId })}
          title={address}
          className={`${rowLinkClass} font-mono text-[13px]`}
        >
          {shortAddress(address)}
        </Link>
        {suspension && <Badge tone="bad">suspended</Badge>}
      </span>
    ),
  },
  { header: 'Plan', cell: ({ plan }) => <Badge>{plan}</Badge> },
  { header: 'Calls', align: 'right', cell: ({ calls }) => groupDigits(calls) },
  { header: 'Spent', align: 'right', cell: ({ spent }) => <Money amount={spent} /> },
  { header: 'Earned', align: 'right', cell: ({ earned }) => <Money amount={earned} /> },
  { header: 'Balance', align: 'right', cell: ({ available }) => <Money amount={available} /> },
  { header: 'Last seen', align: 'right', cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} /> },
];

const accountCsv: readonly CsvColumn<Account>[] = [
  ['accountId', ({ accountId }) => accountId],
  ['address', ({ address }) => address],
  ['plan', ({ plan }) => plan],
  ['createdAt', ({ createdAt }) => createdAt],
  ['lastSeenAt', ({ lastSeenAt }) => lastSeenAt],
  ['calls', ({ calls }) => String(calls)],
  ['spent', ({ spent }) => spent],
  ['earned', ({ earned }) => earned],
  ['available', ({ available }) => available],
  ['suspendedAt', ({ suspension }) => suspension?.at],
  ['suspendedReason', ({ suspension }) => suspension?.reason],
];

const PAGE_SIZE = '20';
const EXPORT_PAGE_SIZE = '100';

/** Accounts of the node with their calls and amounts: sorted, found and exported. The chosen one is above them. */
export function AccountsTab() {
  const { account, search, sort: wanted, cursor } = useSearch({ from: '/shell/operator' });
  const navigate = useNavigate({ from: '/operator' });
  const sort = sortOf(wanted);
  const set = (change: { search?: string; sort?: string; cursor?: string; account?: string }) =>
    void navigate({ search: (before) => ({ ...before, account: undefined, cursor: undefined, ...change }) as never });
  const filters = { sort, ...(search ? { search } : {}) };
  const query = { ...filters, limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
  const { data, error, refetch } = useApi('listOperatorAccounts', { query }, { keepsPrevious: true });
  const saved = useAccountExport(filters);
  return (
    <div className="space-y-5">
      {account && (
        <Card
          title="Account"
          actions={
            <Button size="sm" icon="close" onClick={() => set({})}>
              Close
            </Button>
          }
        >
          <AccountPanel key={account} accountId={account} />
        </Card>
      )}
      <Filters search={search ?? ''} sort={sort} set={set} />
      <Card title="Accounts" isFlush actions={saved.buttons}>
        {saved.note}
        <DataTable
          label="Accounts of the node"
          columns={columns}
          rows={data?.accounts}
          rowId={({ accountId }) => accountId}
          error={error}
          onRetry={() => void refetch()}
          empty={<EmptyState title="No account matches" />}
        />
        {data && (data.nextCursor || cursor) && (
          <Pagination
            summary={sortTexts[sort]}
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

interface FiltersProps {
  readonly search: string;
  readonly sort: AccountSort;
  readonly set: (change: { search?: string; sort?: string }) => void;
}

/** Ids and addresses, as the API takes them. */
const isSearchable = (text: string) => /^[0-9A-Za-z_]{1,100}$/.test(text);

const Filters = ({ search, sort, set }: FiltersProps) => (
  <FilterBar>
    <SettledInput
      type="search"
      aria-label="Find an account"
      placeholder="Address, or ID of account, agent or key"
      value={search}
      isGood={isSearchable}
      onChange={(text) => set({ search: text })}
      spellCheck={false}
      maxLength={100}
      className="font-mono text-[13px] sm:w-80"
    />
    <Select
      aria-label="Sort by"
      value={sort}
      onChange={(value) => set({ sort: value })}
      options={accountSorts.map((value) => ({ value, label: sortTexts[value] }))}
    />
  </FilterBar>
);

/** Saves all accounts that the search leaves, of every page. */
const useAccountExport = (filters: { readonly sort: AccountSort; readonly search?: string }) =>
  useListExport({
    fileName: `accounts-${new Date().toISOString().slice(0, 10)}`,
    columns: accountCsv,
    async readPage(cursor, signal) {
      const query = { ...filters, limit: EXPORT_PAGE_SIZE, ...(cursor ? { cursor } : {}) };
      const { accounts, nextCursor } = await client.listOperatorAccounts({ query }, { signal });
      return { rows: accounts, nextCursor };
    },
  });
