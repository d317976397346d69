import type { ChainIndex } from '@agent-network/contracts/network/network';
import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import type { Reserves } from '@agent-network/contracts/payments/reserves';
import { AssetLabel, ChainName } from '../../app/chain-name.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { sizeText } from './figures.ts';

export const ReservesCard = ({ reserves }: { reserves: Reserves | null }) => (
  <Card title="Reserves" actions={reserves && <Status value={reserves.status} />}>
    {reserves === null ? (
      <p className="text-muted">The chain is not responding.</p>
    ) : (
      <dl>
        <FactRow label="On chain">
          <Money amount={reserves.onChain} />
        </FactRow>
        <FactRow label="Owed">
          <Money amount={reserves.liabilities.total} />
        </FactRow>
        <FactRow label="Difference">
          <Money amount={reserves.difference} />
        </FactRow>
        <FactRow label="Loss">
          <Money amount={reserves.loss} />
        </FactRow>
        <FactRow label="Node fees">
          <Money amount={reserves.liabilities.fees} />
        </FactRow>
        <FactRow label="Wallet">
          <Copyable label="wallet" text={reserves.wallet} short />
        </FactRow>
      </dl>
    )}
  </Card>
);

type AssetStatus = OperatorStatus['byAsset'][number];

const networkColumns: readonly Column<AssetStatus>[] = [
  {
    header: 'Network',
    cell: (asset) => (
      <span className="font-medium">
        <AssetLabel of={asset} />
      </span>
    ),
  },
  { header: 'State', cell: ({ state }) => <Status value={state} /> },
  {
    header: 'On chain',
    align: 'right',
    cell: ({ symbol, reserves: { onChain } }) => <Money amount={onChain} unit={symbol} />,
  },
  { header: 'Owed', align: 'right', cell: ({ symbol, reserves: { owed } }) => <Money amount={owed} unit={symbol} /> },
  {
    header: 'Difference',
    align: 'right',
    cell: ({ symbol, reserves: { difference } }) => <Money amount={difference} unit={symbol} />,
  },
  { header: 'Reserves', cell: ({ reserves: { status } }) => <Status value={status} /> },
];

/** The networks beside the default one, of which the other cards are; nothing where there are none. */
export const NetworksCard = ({ byAsset }: Pick<OperatorStatus, 'byAsset'>) =>
  byAsset.length < 2 ? null : (
    <Card title="Other networks" isFlush>
      <DataTable
        label="Status of other networks"
        columns={networkColumns}
        rows={byAsset.slice(1)}
        rowId={({ asset }) => asset}
        empty={<EmptyState title="No other networks" />}
      />
    </Card>
  );

export const IndexCard = ({ index }: { index: ChainIndex }) => (
  <Card title="Chain index" actions={<Status value={index.state} />}>
    <dl>
      <FactRow label="Chain">
        <ChainName />
      </FactRow>
      <FactRow label="Indexed to block">{groupDigits(index.block)}</FactRow>
      <FactRow label="Chain head">{groupDigits(index.headBlock)}</FactRow>
      <FactRow label="Lag">{index.lagBlocks === 1 ? '1 block' : `${groupDigits(index.lagBlocks)} blocks`}</FactRow>
    </dl>
  </Card>
);

export const DatabaseCard = ({ database }: { database: OperatorStatus['database'] }) => (
  <Card title="Database">
    <dl>
      <FactRow label="Size">{sizeText(database.sizeBytes)}</FactRow>
      <FactRow label="Connections">
        {groupDigits(database.connections)} of {groupDigits(database.maxConnections)}
      </FactRow>
    </dl>
  </Card>
);
