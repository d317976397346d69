import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { useApi } from '../../app/api-query.ts';
import { AssetLabel, useAssetName } from '../../app/chain-name.tsx';
import { useSession } from '../../app/session.ts';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { Note } from '../../ui/values/note.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { AccountsCard } from './accounts-card.tsx';
import { alarmsOf, isLate, isSilent, isSlow } from './alarms.ts';
import { ChannelClaims } from './channel-claims.tsx';
import { ethText, kindText } from './figures.ts';
import { InvocationLookup } from './invocation-lookup.tsx';
import { DatabaseCard, IndexCard, NetworksCard, ReservesCard } from './status-cards.tsx';

/** A key, with the network on which it has the gas. */
type Signer = OperatorStatus['signers'][number] & { readonly network: string };

/** The coin of a network that gas is paid in. */
const coins: Readonly<Record<string, string>> = {
  'eip155:137': 'POL',
  'eip155:80002': 'POL',
  'eip155:43114': 'AVAX',
};

const Gas = ({ gasWei, isLow, network }: Signer) =>
  gasWei === null ? (
    <span className="text-warn">not known</span>
  ) : (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      {isLow && <Badge tone="bad">low</Badge>}
      <span title={`${gasWei} wei`}>
        {groupDigits(ethText(gasWei))} <span className="text-[0.85em] text-muted">{coins[network] ?? 'ETH'}</span>
      </span>
    </span>
  );

const networkColumn: Column<Signer> = {
  header: 'Network',
  cell: ({ network }) => <AssetLabel of={{ network, symbol: 'USDC' }} />,
};

const signerColumns: readonly Column<Signer>[] = [
  { header: 'Key', cell: ({ role }) => <span className="font-medium">{role}</span> },
  { header: 'Address', cell: ({ address }) => <Copyable label="address" text={address} short /> },
  { header: 'Gas', align: 'right', cell: (signer) => <Gas {...signer} /> },
  { header: 'Open transactions', align: 'right', cell: ({ openTransactions }) => openTransactions },
];

/** The keys of the default network, then those of the others. Tokens of a network have the same. */
const signersOf = ({ signers, byAsset: [own, ...others] }: OperatorStatus): Signer[] => {
  const elsewhere = new Map(others.map((each) => [each.network, each.signers]));
  elsewhere.delete(own?.network ?? '');
  return [
    ...signers.map((signer) => ({ ...signer, network: own?.network ?? '' })),
    ...[...elsewhere].flatMap(([network, each]) => each.map((signer) => ({ ...signer, network }))),
  ];
};

type Queue = OperatorStatus['queues'][number];

/** Counting stops there. */
const MAX_COUNTED = 10_000;

const queueColumns: readonly Column<Queue>[] = [
  { header: 'Waiting or in progress', cell: ({ kind }) => <span className="whitespace-nowrap">{kindText(kind)}</span> },
  {
    header: 'Depth',
    align: 'right',
    cell: ({ depth }) => `${groupDigits(depth)}${depth >= MAX_COUNTED ? ' or more' : ''}`,
  },
  {
    header: 'Oldest',
    align: 'right',
    cell: (queue) => (
      <span className={isLate(queue) ? 'font-medium text-warn' : undefined}>
        <Duration value={queue.oldestS === null ? null : queue.oldestS * 1000} />
      </span>
    ),
  },
];

type Process = OperatorStatus['processes'][number];

const delay = (pick: 'p50' | 'p99' | 'max') => (process: Process) => (
  <span className={isSlow(process) ? 'font-medium text-warn' : undefined}>
    <Duration value={process.eventLoopDelayMs?.[pick]} />
  </span>
);

const processColumns = (asOf: string): readonly Column<Process>[] => [
  {
    header: 'Process',
    cell: ({ label, processId, isThis, drainingSince }) => (
      <div className="min-w-32">
        <div className="flex flex-wrap items-center gap-x-2">
          <bdi className="font-medium wrap-anywhere">{label}</bdi>
          {isThis && <Badge tone="accent">serving you</Badge>}
          {drainingSince !== null && <Badge tone="warn">draining</Badge>}
        </div>
        <Copyable label="process id" text={processId} short />
      </div>
    ),
  },
  {
    header: 'Last heartbeat',
    cell: (process) => (
      <span className={isSilent(process, asOf) ? 'font-medium text-bad' : undefined}>
        <TimeAgo at={process.seenAt} />
      </span>
    ),
  },
  { header: 'Version', cell: ({ version }) => <bdi>{version ?? '–'}</bdi> },
  { header: 'Started', cell: ({ startedAt }) => <TimeAgo at={startedAt} /> },
  { header: 'Loop delay p50', align: 'right', cell: delay('p50') },
  { header: 'p99', align: 'right', cell: delay('p99') },
  { header: 'Max', align: 'right', cell: delay('max') },
];

const LOOK_MS = 5000;

/** Status of the node, for its operator. */
export function OperatorView() {
  const isOperator = useSession().scopes.includes('operator');
  return (
    <Page title="Operator" description="Status of this node, updated every five seconds.">
      {isOperator ? (
        <>
          <Totals />
          <StatusParts />
          <InvocationLookup />
          <AccountsCard />
          <ChannelClaims />
        </>
      ) : (
        <Card>
          <EmptyState title="For operators only">
            This account has no active key with the scope <code>operator</code>.
          </EmptyState>
        </Card>
      )}
    </Page>
  );
}

function StatusParts() {
  const { data, error, refetch } = useApi('getOperatorStatus', {}, { refetchIntervalMs: LOOK_MS });
  return (
    <>
      {error && <ErrorNote title="Could not load the status" error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-64 w-full" />}
      {data && <StatusCards status={data} />}
    </>
  );
}

const StatusCards = ({ status }: { status: OperatorStatus }) => (
  <>
    <Alarms status={status} />
    <Settlements settlements={status.settlements} />
    <Card title="Processes" isFlush>
      <DataTable
        label="Processes of the node"
        columns={processColumns(status.asOf)}
        rows={status.processes}
        rowId={({ processId }) => processId}
        empty={<EmptyState title="No process is reporting" />}
      />
    </Card>
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title="Queues" isFlush>
        <DataTable
          label="Queued work"
          columns={queueColumns}
          rows={status.queues}
          rowId={({ kind }) => kind}
          empty={<EmptyState title="There are no queues" />}
        />
      </Card>
      <div className="min-w-0 space-y-5">
        <ReservesCard reserves={status.reserves} />
        <IndexCard index={status.index} />
        <DatabaseCard database={status.database} />
      </div>
    </div>
    <NetworksCard byAsset={status.byAsset} />
    <Card title="Gas by signer key" isFlush>
      <DataTable
        label="Signer keys"
        columns={
          new Set(status.byAsset.map(({ network }) => network)).size > 1
            ? [networkColumn, ...signerColumns]
            : signerColumns
        }
        rows={signersOf(status)}
        rowId={({ address, role, network }) => `${network} ${role} ${address}`}
        empty={<EmptyState title="No signer keys" />}
      />
    </Card>
  </>
);

function Alarms({ status }: { status: OperatorStatus }) {
  const alarms = alarmsOf(status, useAssetName());
  if (alarms.length === 0) return <Note tone="good">Nothing needs attention.</Note>;
  return (
    <ul aria-label="Alarms" className="space-y-2">
      {alarms.map(({ tone, text }) => (
        <li key={text}>
          <Note tone={tone}>{text}</Note>
        </li>
      ))}
    </ul>
  );
}

const toneOf = (isAlarming: boolean) => (isAlarming ? 'text-bad' : undefined);

const Settlements = ({ settlements: { inFlight, unknown, lost, oldestS } }: Pick<OperatorStatus, 'settlements'>) => (
  <Stats>
    <Stat label="Settlements in flight" value={groupDigits(inFlight)} />
    <Stat label="Outcome unknown" value={<span className={toneOf(unknown > 0)}>{groupDigits(unknown)}</span>} />
    <Stat label="Lost to reorganisations" value={<span className={toneOf(lost > 0)}>{groupDigits(lost)}</span>} />
    <Stat label="Oldest in flight" value={<Duration value={oldestS === null ? null : oldestS * 1000} />} />
  </Stats>
);

/** The node reads them once a minute. */
const TOTALS_LOOK_MS = 60_000;
/** Accounts, agents, calls, volume and fees of the whole node. */
function Totals() {
  const nameOf = useAssetName();
  const { data, error, refetch } = useApi('getOperatorTotals', {}, { refetchIntervalMs: TOTALS_LOOK_MS });
  if (!data) return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : null;
  const { volume, fees, feesByAsset, calls, accounts, agents } = data;
  const others = feesByAsset.slice(1).filter((each) => Number(each.fees) > 0);
  const elsewhere = others.map((each) => `${groupDigits(each.fees)} on ${nameOf(each)}`);
  return (
    <Stats>
      <Stat
        label="Volume, 30 days"
        value={<Money amount={volume.days30} />}
        hint={`${groupDigits(volume.total)} in total`}
      />
      <Stat label="Calls, 30 days" value={groupDigits(calls.days30)} hint={`${groupDigits(calls.total)} in total`} />
      <Stat label="Fees" value={<Money amount={fees} />} hint={['not withdrawn yet', ...elsewhere].join('; ')} />
      <Stat label="Accounts" value={groupDigits(accounts)} />
      <Stat label="Agents" value={groupDigits(agents.total)} hint={`${groupDigits(agents.online)} online`} />
    </Stats>
  );
}
