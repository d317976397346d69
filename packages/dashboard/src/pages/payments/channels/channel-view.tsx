import type { ChannelCharge, ChannelDetail, ChannelEntry } from '@agent-network/contracts/payments/channels';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useApi } from '../../../app/api-query.ts';
import { ChainLink } from '../../../app/chain-link.tsx';
import { Stat, Stats } from '../../../ui/chart/stat.tsx';
import { Copyable } from '../../../ui/controls/copyable.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../../ui/layout/data-table.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { FactRow } from '../../../ui/layout/fact-row.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Pagination } from '../../../ui/layout/pagination.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { Waiting } from '../../../ui/layout/waiting.tsx';
import { Status } from '../../../ui/values/badge.tsx';
import { linkClass } from '../../../ui/values/link.tsx';
import { Money } from '../../../ui/values/money.tsx';
import { Note } from '../../../ui/values/note.tsx';
import { ExactTime, TimeAgo } from '../../../ui/values/time-ago.tsx';

const entryTexts = { deposit: 'Deposit', claim: 'Claim by the node', refund: 'Refund to the wallet' } as const;

/** A claim is a total: it says how much is claimed after it. */
const EntryAmount = ({ type, amount }: ChannelEntry) => (
  <span className="whitespace-nowrap">
    {type === 'claim' && <span className="text-muted">total </span>}
    <Money amount={amount} />
  </span>
);

const entryColumns: readonly Column<ChannelEntry>[] = [
  { header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { header: 'Entry', cell: ({ type }) => <span className="font-medium whitespace-nowrap">{entryTexts[type]}</span> },
  { header: 'State', cell: ({ state }) => <Status value={state} /> },
  { header: 'Amount', align: 'right', cell: (entry) => <EntryAmount {...entry} /> },
  { header: 'Transaction', cell: ({ transactionHash }) => <ChainLink kind="tx" id={transactionHash} /> },
];

const chargeColumns: readonly Column<ChannelCharge>[] = [
  { header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  {
    header: 'Call',
    cell: ({ requestId }) => (
      <Link
        to="/invocations/$requestId"
        params={{ requestId }}
        className={`${linkClass} font-mono text-[13px] whitespace-nowrap`}
      >
        {requestId}
      </Link>
    ),
  },
  { header: 'Price', align: 'right', cell: ({ price }) => <Money amount={price} /> },
  {
    header: 'Charged',
    align: 'right',
    cell: ({ charged }) => (charged === null ? <Status value="processing" /> : <Money amount={charged} />),
  },
  { header: 'Voucher', align: 'right', cell: ({ voucher }) => <Money amount={voucher} /> },
];

const REFRESH_MS = 10_000;
const FROM = '/shell/payments/channels/$channelId';

/** A payment channel: its balance, a withdrawal of the payer, and its history. */
export function ChannelView() {
  const { channelId } = useParams({ from: FROM });
  const { tab } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/payments/channels/$channelId' });
  const call = { params: { channelId } };
  const { data, error, refetch } = useApi('getChannel', call, { refetchIntervalMs: REFRESH_MS });
  return (
    <Page
      title="Channel"
      up={
        <Link to="/payments" search={{ tab: 'channels' }} className={linkClass}>
          Channels
        </Link>
      }
      aside={
        <>
          {data && <Status value={data.state} />}
          <Copyable label="channel id" text={channelId} short />
        </>
      }
    >
      {!data && <Waiting error={error} onRetry={() => void refetch()} />}
      {data && <Amounts channel={data} />}
      {data && <Withdrawal channel={data} />}
      {data && (
        <div className="grid items-start gap-5 lg:grid-cols-[1fr_20rem]">
          <div className="min-w-0">
            <Tabs
              active={tab === 'history' ? 'history' : 'calls'}
              onChange={(id) => void navigate({ search: id === 'calls' ? {} : { tab: id } })}
              tabs={[
                { id: 'calls', label: 'Calls', content: <Calls channelId={channelId} /> },
                { id: 'history', label: 'Deposits, claims, refunds', content: <History channelId={channelId} /> },
              ]}
            />
          </div>
          <Facts channel={data} />
        </div>
      )}
    </Page>
  );
}

const Amounts = ({ channel }: { channel: ChannelDetail }) => (
  <Stats>
    <Stat label="Left" value={<Money amount={channel.remaining} />} hint="for calls or a refund" />
    <Stat label="Balance" value={<Money amount={channel.balance} />} hint="deposits minus refunds" />
    <Stat label="Charged" value={<Money amount={channel.charged} />} hint="finished calls" />
    <Stat label="In flight" value={<Money amount={channel.inFlight} />} hint="running calls" />
  </Stats>
);

const Withdrawal = ({ channel: { state, withdrawal, remaining } }: { channel: ChannelDetail }) => {
  if (state === 'refunding')
    return <Note title="Refund in progress">This channel can't pay for calls until the refund is on chain.</Note>;
  if (!withdrawal) return null;
  return (
    <Note tone="warn" title="The wallet has started a withdrawal">
      This channel no longer pays for calls. From <ExactTime at={withdrawal.availableAt} />, the wallet can withdraw{' '}
      <Money amount={remaining} /> with a second transaction.
    </Note>
  );
};

const Facts = ({ channel: { payer, claimed, createdAt, changedAt, config } }: { channel: ChannelDetail }) => (
  <Card title="Details">
    <dl>
      <FactRow label="Wallet">
        <ChainLink kind="address" id={payer} label="paying wallet" />
      </FactRow>
      <FactRow label="Signs vouchers">
        <Copyable label="signer of vouchers" text={config.payerAuthorizer} short />
      </FactRow>
      <FactRow label="Paid to">
        <ChainLink kind="address" id={config.receiver} label="receiving wallet" />
      </FactRow>
      <FactRow label="Claimed by the node">
        <Money amount={claimed} />
      </FactRow>
      <FactRow label="Withdrawal delay">{delayText(config.withdrawDelay)}</FactRow>
      <FactRow label="Opened">
        <ExactTime at={createdAt} />
      </FactRow>
      <FactRow label="Updated">
        <ExactTime at={changedAt} />
      </FactRow>
      <FactRow label="Salt">
        <Copyable label="salt" text={config.salt} short />
      </FactRow>
    </dl>
  </Card>
);

const delayText = (seconds: number) =>
  seconds % 3600 === 0
    ? `${seconds / 3600} ${seconds === 3600 ? 'hour' : 'hours'}`
    : `${Math.ceil(seconds / 60)} minutes`;

/** The page's cursor in the URL, and the ways to other pages. */
function usePage() {
  const { cursor } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/payments/channels/$channelId' });
  const show = (next?: string) =>
    void navigate({ search: ({ cursor: _, ...rest }) => ({ ...rest, ...(next ? { cursor: next } : {}) }) });
  const pages = (next: string | null, summary: string) =>
    next !== null || cursor ? (
      <Pagination
        summary={summary}
        hasNewer={cursor !== undefined}
        hasOlder={next !== null}
        onFirst={() => show()}
        onOlder={() => next && show(next)}
      />
    ) : null;
  return { query: cursor ? { cursor } : {}, pages };
}

function Calls({ channelId }: { channelId: string }) {
  const { query, pages } = usePage();
  const call = { params: { channelId }, query };
  const { data, error, refetch } = useApi('listChannelCharges', call, { keepsPrevious: true });
  return (
    <Card isFlush>
      <DataTable
        label="Calls of the channel"
        columns={chargeColumns}
        rows={data?.charges}
        rowId={({ requestId }) => requestId}
        error={error}
        onRetry={() => void refetch()}
        empty={
          <EmptyState title="No calls on record">Calls are listed for as long as their results are kept.</EmptyState>
        }
      />
      {data && pages(data.nextCursor, 'Highest voucher first')}
    </Card>
  );
}

function History({ channelId }: { channelId: string }) {
  const { query, pages } = usePage();
  const call = { params: { channelId }, query };
  const { data, error, refetch } = useApi('listChannelHistory', call, { keepsPrevious: true });
  return (
    <Card isFlush>
      <DataTable
        label="History of the channel"
        columns={entryColumns}
        rows={data?.entries}
        rowId={({ entryId }) => entryId}
        error={error}
        onRetry={() => void refetch()}
        empty={<EmptyState title="No on-chain activity yet" />}
      />
      {data && pages(data.nextCursor, 'Newest first')}
    </Card>
  );
}
