import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { Copyable } from '../../ui/controls/copyable.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { ethText } from './figures.ts';

type Signer = OperatorStatus['signers'][number];

const Gas = ({ gasWei, isLow }: Signer) =>
  gasWei === null ? (
    <span className="text-warn">not known</span>
  ) : (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      {isLow && <Badge tone="bad">low</Badge>}
      <span title={`${gasWei} wei`}>
        {groupDigits(ethText(gasWei))} <span className="text-[0.85em] text-muted">ETH</span>
      </span>
    </span>
  );

export const signerColumns: readonly Column<Signer>[] = [
  { id: 'role', header: 'Key', cell: ({ role }) => <span className="font-medium">{role}</span> },
  { id: 'address', header: 'Address', cell: ({ address }) => <Copyable label="address" text={address} short /> },
  { id: 'gas', header: 'Gas', align: 'right', cell: (signer) => <Gas {...signer} /> },
  { id: 'open', header: 'Open transactions', align: 'right', cell: ({ openTransactions }) => openTransactions },
];
