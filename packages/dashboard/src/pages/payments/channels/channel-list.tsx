import type { ChannelItem } from '@agent-network/contracts/payments/channels';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../../app/api-query.ts';
import { Copyable } from '../../../ui/controls/copyable.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../../ui/layout/data-table.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Pagination } from '../../../ui/layout/pagination.tsx';
import { Status } from '../../../ui/values/badge.tsx';
import { linkClass } from '../../../ui/values/link.tsx';
import { Money } from '../../../ui/values/money.tsx';
import { TimeAgo } from '../../../ui/values/time-ago.tsx';

const shortened = (id: string) => `${id.slice(0, 10)}…${id.slice(-4)}`;

const columns: readonly Column<ChannelItem>[] = [
  {
    header: 'Channel',
    cell: ({ channelId }) => (
      <Link
        to="/payments/channels/$channelId"
        params={{ channelId }}
        className={`${linkClass} font-mono text-[13px] whitespace-nowrap`}
      >
        {shortened(channelId)}
      </Link>
    ),
  },
  { header: 'State', cell: ({ state }) => <Status value={state} /> },
  { header: 'Wallet', cell: ({ payer }) => <Copyable label="paying wallet" text={payer} short /> },
  { header: 'Left', align: 'right', cell: ({ remaining }) => <Money amount={remaining} /> },
  { header: 'Charged', align: 'right', cell: ({ charged }) => <Money amount={charged} /> },
  { header: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance} /> },
  { header: 'Opened', align: 'right', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];

/** Payment channels of the account's wallets. */
export function ChannelList() {
  const { cursor } = useSearch({ from: '/shell/payments' });
  const navigate = useNavigate({ from: '/payments' });
  const query = cursor ? { cursor } : {};
  const { data, error, refetch } = useApi('listChannels', { query }, { keepsPrevious: true });
  const show = (next?: string) => void navigate({ search: { tab: 'channels', ...(next ? { cursor: next } : {}) } });
  return (
    <Card isFlush>
      <DataTable
        label="Channels"
        columns={columns}
        rows={data?.channels}
        rowId={({ channelId }) => channelId}
        error={error}
        onRetry={() => void refetch()}
        empty={
          <EmptyState title="No channels yet">
            A wallet makes one deposit into a channel, and each call after that takes a single signature. To open one,
            choose a wallet with “channel” under Try it on an agent's page.
          </EmptyState>
        }
      />
      {data && (data.hasMore || cursor) && (
        <Pagination
          summary="Newest first"
          hasNewer={cursor !== undefined}
          hasOlder={data.hasMore}
          onFirst={() => show()}
          onOlder={() => data.nextCursor && show(data.nextCursor)}
        />
      )}
    </Card>
  );
}
