import type { StatementEntry } from '@agent-network/contracts/payments/statements';
import { ChainLink } from '../../app/chain-link.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Money } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { Counterparty } from './counterparty.tsx';
import { MovementLink } from './movement-link.tsx';
import { entryTexts } from './statement.ts';

const Signed = ({ direction, amount }: Pick<StatementEntry, 'direction' | 'amount'>) => (
  <span className={direction === 'credit' ? 'text-good' : undefined}>
    <Money amount={`${direction === 'credit' ? '+' : '−'}${amount}`} />
  </span>
);

export const statementColumns: readonly Column<StatementEntry>[] = [
  { id: 'created', header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  {
    id: 'type',
    header: 'Entry',
    cell: ({ type }) => <span className="font-medium whitespace-nowrap">{entryTexts[type]}</span>,
  },
  { id: 'counterparty', header: 'Counterparty', cell: ({ counterparty }) => <Counterparty id={counterparty} /> },
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
  { id: 'amount', header: 'Amount', align: 'right', cell: (entry) => <Signed {...entry} /> },
  { id: 'balance', header: 'Balance after', align: 'right', cell: ({ balance }) => <Money amount={balance} /> },
];
