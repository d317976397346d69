import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { useApi } from '../../app/api-query.ts';
import { AssetLabel, useAssetName } from '../../app/chain-name.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { ethText } from './figures.ts';
import { NetworksCard, ReservesCard } from './status-cards.tsx';

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

/** Volume, debts and reserves of the node, and the gas of its keys. */
export const MoneyTab = ({ status }: { status: OperatorStatus }) => (
  <div className="space-y-5">
    <Totals />
    <Settlements settlements={status.settlements} />
    <div className="grid items-start gap-5 lg:grid-cols-[20rem_1fr]">
      <ReservesCard reserves={status.reserves} />
      <Card title="Gas of the sending keys" isFlush>
        <DataTable
          label="Keys with their gas"
          columns={
            new Set(status.byAsset.map(({ network }) => network)).size > 1
              ? [networkColumn, ...signerColumns]
              : signerColumns
          }
          rows={signersOf(status)}
          rowId={({ address, role, network }) => `${network} ${role} ${address}`}
          empty={<EmptyState title="No keys" />}
        />
      </Card>
    </div>
    <NetworksCard byAsset={status.byAsset} />
  </div>
);

const toneOf = (isAlarming: boolean) => (isAlarming ? 'text-bad' : undefined);

const Settlements = ({ settlements: { inFlight, unknown, lost, oldestS } }: Pick<OperatorStatus, 'settlements'>) => (
  <Stats>
    <Stat label="Payments being settled" value={groupDigits(inFlight)} />
    <Stat
      label="Overdue, outcome unknown"
      value={<span className={toneOf(unknown > 0)}>{groupDigits(unknown)}</span>}
    />
    <Stat label="Undone by the chain" value={<span className={toneOf(lost > 0)}>{groupDigits(lost)}</span>} />
    <Stat label="Oldest being settled" value={<Duration value={oldestS === null ? null : oldestS * 1000} />} />
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
