import type { OperatorChannels, OperatorClaim } from '@agent-network/contracts/network/operator-channels';
import { ChainLink } from '../../app/chain-link.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { ExactTime, TimeAgo } from '../../ui/values/time-ago.tsx';
import { kindText } from './figures.ts';

type Owing = OperatorChannels['owing'][number];

const dash = <span className="text-muted">–</span>;

export const owingColumns: readonly Column<Owing>[] = [
  { id: 'channel', header: 'Channel', cell: ({ channelId }) => <Copyable label="channel id" text={channelId} short /> },
  { id: 'payer', header: 'Payer', cell: ({ payer }) => <ChainLink kind="address" id={payer} label="paying wallet" /> },
  { id: 'unclaimed', header: 'Unclaimed', align: 'right', cell: ({ unclaimed }) => <Money amount={unclaimed} /> },
  { id: 'oldest', header: 'Oldest', align: 'right', cell: ({ oldestUnclaimedAt: at }) => <TimeAgo at={at} /> },
  {
    id: 'withdrawal',
    header: 'Payer can withdraw from',
    cell: ({ withdrawAvailableAt: at }) =>
      at === null ? (
        dash
      ) : (
        <span className="text-warn">
          <ExactTime at={at} />
        </span>
      ),
  },
  {
    id: 'claiming',
    header: 'Claim',
    cell: ({ isClaiming }) => (isClaiming ? <Badge tone="accent">in progress</Badge> : dash),
  },
];

export const claimColumns: readonly Column<OperatorClaim>[] = [
  { id: 'when', header: 'When', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { id: 'reason', header: 'Reason', cell: ({ reason }) => <span className="font-medium">{kindText(reason)}</span> },
  { id: 'state', header: 'State', cell: ({ state }) => <Status value={state} /> },
  { id: 'channels', header: 'Channels', align: 'right', cell: ({ channels }) => channels },
  { id: 'gas', header: 'Gas', align: 'right', cell: ({ gasUsed }) => (gasUsed === null ? dash : groupDigits(gasUsed)) },
  {
    id: 'transaction',
    header: 'Transaction',
    cell: ({ transactionHash }) => <ChainLink kind="tx" id={transactionHash} label="transaction hash" />,
  },
];
