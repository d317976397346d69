import type { OperatorChannels, OperatorClaim } from '@agent-network/contracts/network/operator-channels';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { useAssetName } from '../../app/chain-name.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { dash } from '../../ui/values/dash.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { ExactTime, TimeAgo } from '../../ui/values/time-ago.tsx';
import { kindText } from './figures.ts';

type Owing = OperatorChannels['owing'][number];
/** The asset that is shown; undefined: the default one. */
type Shown = OperatorChannels['byAsset'][number] | undefined;

const owingColumns = (of: Shown): readonly Column<Owing>[] => [
  { header: 'Channel', cell: ({ channelId }) => <Copyable label="channel id" text={channelId} short /> },
  {
    header: 'Payer',
    cell: ({ payer }) => <ChainLink kind="address" id={payer} label="paying wallet" network={of?.network} />,
  },
  { header: 'Unclaimed', align: 'right', cell: ({ unclaimed }) => <Money amount={unclaimed} unit={of?.symbol} /> },
  { header: 'Oldest', align: 'right', cell: ({ oldestUnclaimedAt: at }) => <TimeAgo at={at} /> },
  {
    header: 'Payer can withdraw from',
    cell: ({ withdrawAvailableAt: at }) =>
      at === null ? (
        dash
      ) : (
        <span className="text-warn">
          <ExactTime at={at} />
        </span>
      ),
  },
  { header: 'Claim', cell: ({ isClaiming }) => (isClaiming ? <Badge tone="accent">in progress</Badge> : dash) },
];

const claimColumns = (network: string | undefined): readonly Column<OperatorClaim>[] => [
  { header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { header: 'Reason', cell: ({ reason }) => <span className="font-medium">{kindText(reason)}</span> },
  { header: 'State', cell: ({ state }) => <Status value={state} /> },
  { header: 'Channels', align: 'right', cell: ({ channels }) => channels },
  { header: 'Gas', align: 'right', cell: ({ gasUsed }) => (gasUsed === null ? dash : groupDigits(gasUsed)) },
  {
    header: 'Transaction',
    cell: ({ transactionHash }) => <ChainLink kind="tx" id={transactionHash} network={network} />,
  },
];

const LOOK_MS = 5000;

/** Payment channels of all payers, and the transactions that claim from them. */
export function ChannelClaims() {
  const nameOf = useAssetName();
  const [asset, setAsset] = useState('');
  const query = asset ? { network: asset } : {};
  const options = { keepsPrevious: true, refetchIntervalMs: LOOK_MS };
  const { data, error, refetch } = useApi('getOperatorChannels', { query }, options);
  const shown = data?.byAsset.find((each) => each.asset === asset);
  return (
    <section aria-label="Payment channels" className="space-y-5">
      {data && data.byAsset.length > 1 && (
        <Field label="Network">
          <Select value={asset} onChange={setAsset} options={networkOptions(data, nameOf)} className="max-w-xl" />
        </Field>
      )}
      {error && <ErrorNote title="Could not load the channels" error={error} onRetry={() => void refetch()} />}
      {data && <Totals channels={data} unit={shown?.symbol} />}
      <Card title="Unclaimed charges" isFlush>
        <DataTable
          label="Channels with unclaimed charges"
          columns={owingColumns(shown)}
          rows={data?.owing}
          rowId={({ channelId }) => channelId}
          empty={<EmptyState title="No channel has unclaimed charges and no payer is withdrawing" />}
        />
      </Card>
      <Claims key={asset} asset={asset} />
    </section>
  );
}

const networkOf = (asset: string): string | undefined => asset.split('/')[0] || undefined;

/** Each asset with what its channels owe, so that nothing is overlooked on a network that is not shown. */
const networkOptions = ({ byAsset }: OperatorChannels, nameOf: ReturnType<typeof useAssetName>) =>
  byAsset.map(({ asset, unclaimed, ...names }, index) => ({
    value: index === 0 ? '' : asset,
    label: `${nameOf(names)}: ${unclaimed} ${names.symbol} unclaimed`,
  }));

const Totals = ({ channels, unit }: { channels: OperatorChannels; unit: string | undefined }) => (
  <Stats>
    <Stat label="Open channels" value={groupDigits(channels.open)} />
    <Stat label="Unclaimed" value={<Money amount={channels.unclaimed} unit={unit} />} />
    <Stat label="Oldest unclaimed" value={<TimeAgo at={channels.oldestUnclaimedAt} />} />
    <Stat
      label="Withdrawing"
      value={<span className={channels.withdrawing > 0 ? 'text-warn' : undefined}>{channels.withdrawing}</span>}
    />
    {Number(channels.lost) > 0 && (
      <Stat
        label="Lost"
        value={
          <span className="text-bad">
            <Money amount={channels.lost} unit={unit} />
          </span>
        }
      />
    )}
  </Stats>
);

/** `asset`: empty for the default one. */
function Claims({ asset }: { asset: string }) {
  const [cursor, setCursor] = useState<string>();
  const call = { query: { limit: 10, ...(asset ? { network: asset } : {}), ...(cursor ? { cursor } : {}) } };
  const options = { keepsPrevious: true, refetchIntervalMs: LOOK_MS };
  const { data, error, refetch } = useApi('listOperatorClaims', call, options);
  return (
    <Card title="Claims and refunds" isFlush>
      <DataTable
        label="Claims and refunds of channels"
        columns={claimColumns(networkOf(asset))}
        rows={data?.claims}
        rowId={({ claimId }) => claimId}
        error={error}
        onRetry={() => void refetch()}
        empty={<EmptyState title="No claims yet" />}
      />
      {data && (data.hasMore || cursor) && (
        <Pagination
          summary="Newest first"
          hasNewer={cursor !== undefined}
          hasOlder={data.hasMore}
          onFirst={() => setCursor(undefined)}
          onOlder={() => data.nextCursor && setCursor(data.nextCursor)}
        />
      )}
    </Card>
  );
}
