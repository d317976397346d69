import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Menu } from '../../ui/controls/menu.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import type { NamedTreasury } from './treasury.ts';

interface TreasuryListProps {
  readonly treasuries: readonly NamedTreasury[] | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly onFund: (treasuryId: string) => void;
  readonly onWithdraw: (treasuryId: string) => void;
}

const Name = ({ treasury: { treasuryId, name } }: { treasury: NamedTreasury }) => (
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
          { label: 'Withdraw', icon: 'arrowUp', onSelect: () => onWithdraw(treasuryId) },
        ]}
      />
    ),
  },
];

export function TreasuryList({ treasuries, error, onRetry, onFund, onWithdraw }: TreasuryListProps) {
  const columns = useMemo(() => columnsOf(onFund, onWithdraw), [onFund, onWithdraw]);
  return (
    <Card isFlush>
      <DataTable
        label="Treasuries"
        columns={columns}
        rows={treasuries}
        rowId={({ treasuryId }) => treasuryId}
        error={error}
        onRetry={onRetry}
        empty={<NoTreasury />}
      />
    </Card>
  );
}

function NoTreasury() {
  const open = useApiMutation('createTreasury', { invalidates: ['getBalance'] });
  return (
    <EmptyState
      title="No treasury yet"
      command={`curl -X POST -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\\n     ${location.origin}/payments/treasury`}
    >
      <p>A treasury pays for calls without a signature each time.</p>
      <div className="mt-3">
        <Button variant="primary" isBusy={open.isPending} onClick={() => open.mutate({ body: {} })}>
          Open a treasury
        </Button>
      </div>
      <div className="mt-3 text-left empty:hidden">
        <ErrorNote error={open.error} />
      </div>
    </EmptyState>
  );
}
