import type { StatementEntry } from '@agent-network/contracts/payments/statements';
import { ChainLink } from '../../app/chain-link.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { Counterparty } from './counterparty.tsx';
import { MovementLink } from './movement-link.tsx';
import { Signed } from './signed.tsx';
import { entryTexts } from './statement.ts';

export const statementColumns: readonly Column<StatementEntry>[] = [
  { id: 'created', header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  {
    id: 'type',
    header: 'Entry',
    cell: ({ type }) => <span className="font-medium whitespace-nowrap">{entryTexts[type]}</span>,
  },
  {
    id: 'counterparty',
    header: 'Counterparty',
    cell: ({ counterparty, counterpartyName }) => <Counterparty id={counterparty} name={counterpartyName} />,
  },
  { id: 'for', header: 'For', cell: (entry) => <MovementLink {...entry} /> },
  {
    id: 'transaction',
    header: 'Transaction',
    cell: ({ transactionHash }) =>
      transactionHash === null ? (
        <span className="text-muted">–</span>
      ) : (
        <ChainLink kind="tx" id={transactionHash} label="transaction hash" />
      ),
  },
  {
    id: 'amount',
    header: 'Amount',
    align: 'right',
    cell: ({ direction, amount }) => <Signed sign={direction === 'credit' ? '+' : '−'} amount={amount} />,
  },
  { id: 'balance', header: 'Balance after', align: 'right', cell: ({ balance }) => <Money amount={balance} /> },
];
