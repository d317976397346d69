import type { PaymentItem } from '@agent-network/contracts/payments/payments';
import { ChainLink } from '../../app/chain-link.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { Counterparty } from './counterparty.tsx';
import { MovementLink } from './movement-link.tsx';
import { paymentTexts, signOf } from './payment.ts';
import { Signed } from './signed.tsx';

const dash = <span className="text-muted">–</span>;

export const paymentColumns = (treasuryName: (id: string | null) => string | null): readonly Column<PaymentItem>[] => [
  {
    id: 'type',
    header: 'Type',
    cell: ({ type }) => <span className="font-medium whitespace-nowrap">{paymentTexts[type]}</span>,
  },
  { id: 'status', header: 'Status', cell: ({ status }) => <Status value={status} /> },
  {
    id: 'amount',
    header: 'Amount',
    align: 'right',
    cell: ({ amount, fee, ...row }) => (
      <>
        <Signed sign={signOf(row)} amount={amount} />
        {fee !== undefined && <div className="text-[13px] whitespace-nowrap text-muted">after a fee of {fee}</div>}
      </>
    ),
  },
  {
    id: 'treasury',
    header: 'Treasury',
    cell: ({ treasuryId }) => (
      <span className="line-clamp-2 min-w-24 max-w-48 wrap-anywhere">{treasuryName(treasuryId) ?? dash}</span>
    ),
  },
  {
    id: 'counterparty',
    header: 'Counterparty',
    cell: ({ counterparty, counterpartyName }) => <Counterparty id={counterparty} name={counterpartyName} />,
  },
  { id: 'for', header: 'For', cell: (row) => <MovementLink {...row} /> },
  {
    id: 'transaction',
    header: 'Transaction',
    cell: ({ transactionHash }) =>
      transactionHash === null ? dash : <ChainLink kind="tx" id={transactionHash} label="transaction hash" />,
  },
  { id: 'created', header: 'When', align: 'right', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
];
