import type { Balance } from '@agent-network/contracts/payments/payments';
import { Link } from '@tanstack/react-router';
import { AssetLabel } from '../../app/chain-name.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { nameTreasuries } from './treasury.ts';

type AssetBalance = Balance['byAsset'][number];
type OtherTreasury = Balance['otherTreasuries'][number];

const balanceColumns: readonly Column<AssetBalance>[] = [
  {
    header: 'Network',
    cell: (asset) => (
      <span className="font-medium">
        <AssetLabel of={asset} />
      </span>
    ),
  },
  { header: 'Available', align: 'right', cell: ({ available, symbol }) => <Money amount={available} unit={symbol} /> },
  { header: 'Held', align: 'right', cell: ({ held, symbol }) => <Money amount={held} unit={symbol} /> },
  { header: 'Pending', align: 'right', cell: ({ pending, symbol }) => <Money amount={pending} unit={symbol} /> },
];

/** Balances on the networks beside the default one; nothing where there are none. */
export function OtherBalances({ balance }: { balance: Balance | undefined }) {
  const others = balance?.byAsset.slice(1) ?? [];
  if (others.length === 0) return null;
  return (
    <Card title="On other networks" isFlush>
      <DataTable
        label="Balances on other networks"
        columns={balanceColumns}
        rows={others}
        rowId={({ asset }) => asset}
        empty={<EmptyState title="No balances" />}
      />
    </Card>
  );
}

const treasuryColumns: readonly Column<OtherTreasury>[] = [
  {
    header: 'Treasury',
    cell: (treasury) => (
      <div className="min-w-40">
        <Link
          to="/payments/treasuries/$treasuryId"
          params={{ treasuryId: treasury.treasuryId }}
          className={`${linkClass} font-medium wrap-anywhere`}
        >
          {nameTreasuries([treasury])[0]?.name}
        </Link>
        <div>
          <Copyable label="treasury id" text={treasury.treasuryId} short />
        </div>
      </div>
    ),
  },
  { header: 'Network', cell: (treasury) => <AssetLabel of={treasury} /> },
  { header: 'Available', align: 'right', cell: ({ available, symbol }) => <Money amount={available} unit={symbol} /> },
  { header: 'Held', align: 'right', cell: ({ held, symbol }) => <Money amount={held} unit={symbol} /> },
];

/** Treasuries on the networks beside the default one; nothing where there are none. */
export function OtherTreasuries({ balance }: { balance: Balance | undefined }) {
  const others = balance?.otherTreasuries ?? [];
  if (others.length === 0) return null;
  return (
    <Card title="Treasuries on other networks" isFlush>
      <DataTable
        label="Treasuries by network"
        columns={treasuryColumns}
        rows={others}
        rowId={({ treasuryId }) => treasuryId}
        empty={<EmptyState title="No treasuries" />}
      />
    </Card>
  );
}
