import type { ChannelCharge, ChannelEntry } from '@agent-network/contracts/payments/channels';
import { Link } from '@tanstack/react-router';
import { ChainLink } from '../../../app/chain-link.tsx';
import type { Column } from '../../../ui/layout/data-table.tsx';
import { Status } from '../../../ui/values/badge.tsx';
import { linkClass } from '../../../ui/values/link.tsx';
import { Money } from '../../../ui/values/money.tsx';
import { TimeAgo } from '../../../ui/values/time-ago.tsx';

const entryTexts = { deposit: 'Deposit', claim: 'Claim by the node', refund: 'Refund to the wallet' } as const;

const dash = <span className="text-muted">–</span>;

/** A claim is a total: it says how much is claimed after it. */
const EntryAmount = ({ type, amount }: ChannelEntry) => (
  <span className="whitespace-nowrap">
    {type === 'claim' && <span className="text-muted">total </span>}
    <Money amount={amount} />
  </span>
);

export const entryColumns: readonly Column<ChannelEntry>[] = [
  { id: 'when', header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  {
    id: 'type',
    header: 'Entry',
    cell: ({ type }) => <span className="font-medium whitespace-nowrap">{entryTexts[type]}</span>,
  },
  { id: 'state', header: 'State', cell: ({ state }) => <Status value={state} /> },
  { id: 'amount', header: 'Amount', align: 'right', cell: (entry) => <EntryAmount {...entry} /> },
  {
    id: 'transaction',
    header: 'Transaction',
    cell: ({ transactionHash }) =>
      transactionHash === null ? dash : <ChainLink kind="tx" id={transactionHash} label="transaction hash" />,
  },
];

export const chargeColumns: readonly Column<ChannelCharge>[] = [
  { id: 'when', header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  {
    id: 'call',
    header: 'Call',
    cell: ({ requestId }) => (
      <Link
        to="/invocations/$requestId"
        params={{ requestId }}
        className={`${linkClass} font-mono text-[13px] whitespace-nowrap`}
      >
        {requestId}
      </Link>
    ),
  },
  { id: 'price', header: 'Price', align: 'right', cell: ({ price }) => <Money amount={price} /> },
  {
    id: 'charged',
    header: 'Charged',
    align: 'right',
    cell: ({ charged }) => (charged === null ? <Status value="processing" /> : <Money amount={charged} />),
  },
  { id: 'voucher', header: 'Voucher', align: 'right', cell: ({ voucher }) => <Money amount={voucher} /> },
];
