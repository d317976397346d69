import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Menu } from '../../ui/controls/menu.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { isIdle, type NamedTreasury, NOT_OPEN, withAccount } from './treasury.ts';

interface TreasuryListProps {
  readonly treasuries: readonly NamedTreasury[] | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly onFund: (treasuryId: string) => void;
  readonly onWithdraw: (treasuryId: string) => void;
}

const Name = ({ treasury: { treasuryId, name } }: { treasury: NamedTreasury }) =>
  treasuryId === NOT_OPEN ? (
    <div className="min-w-40">
      <span className="font-medium">{name}</span>
      <div className="text-[13px] text-muted">opened by the first deposit</div>
    </div>
  ) : (
    <div className="min-w-40">
      <Link
        to="/payments/treasuries/$treasuryId"
        params={{ treasuryId }}
        className={`${linkClass} font-medium wrap-anywhere`}
      >
        {name}
      </Link>
      <div>
        <Copyable label="treasury id" text={treasuryId} short />
      </div>
    </div>
  );

const columnsOf = (
  onFund: TreasuryListProps['onFund'],
  onWithdraw: TreasuryListProps['onWithdraw'],
): readonly Column<NamedTreasury>[] => [
  { header: 'Treasury', cell: (treasury) => <Name treasury={treasury} /> },
  { header: 'Owner', cell: ({ agentId }) => <Badge>{agentId === null ? 'account' : 'agent'}</Badge> },
  { header: 'Available', align: 'right', cell: ({ available }) => <Money amount={available} /> },
  { header: 'Held', align: 'right', cell: ({ held }) => <Money amount={held} /> },
  {
    header: 'Actions',
    align: 'right',
    cell: ({ treasuryId, name }) => (
      <Menu
        trigger={<IconButton size="sm" icon="more" label={`Actions for ${name}`} />}
        items={[
          { label: 'Add funds', icon: 'plus', onSelect: () => onFund(treasuryId) },
          ...(treasuryId === NOT_OPEN
            ? []
            : [{ label: 'Withdraw', icon: 'arrowUp' as const, onSelect: () => onWithdraw(treasuryId) }]),
        ]}
      />
    ),
  },
];

/** The account's treasury, which pays for calls, and those of agents that hold money; the empty ones on demand. */
export function TreasuryList({ treasuries, error, onRetry, onFund, onWithdraw }: TreasuryListProps) {
  const [showsIdle, setShowsIdle] = useState(false);
  const columns = useMemo(() => columnsOf(onFund, onWithdraw), [onFund, onWithdraw]);
  const all = treasuries && withAccount(treasuries);
  const idle = all?.filter(isIdle).length ?? 0;
  return (
    <Card isFlush>
      <DataTable
        label="Treasuries"
        columns={columns}
        rows={showsIdle ? all : all?.filter((each) => !isIdle(each))}
        rowId={({ treasuryId }) => treasuryId}
        error={error}
        onRetry={onRetry}
        empty={<EmptyState title="No treasury yet" />}
      />
      {idle > 0 && (
        <div className="border-t border-line px-4 py-2">
          <Button size="sm" variant="ghost" onClick={() => setShowsIdle(!showsIdle)}>
            {showsIdle ? 'Hide' : 'Show'} {idle} without money
          </Button>
        </div>
      )}
    </Card>
  );
}
