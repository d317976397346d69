import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { Column } from '../../ui/data-table.tsx';
import { Meter } from '../../ui/meter.tsx';
import { TimeAgo } from '../../ui/time-ago.tsx';
import { LimitMeter } from './limit-meter.tsx';

type ListedKey = DataOf<Api['listApiKeys']>['keys'][number];
/** A key that has not ended. */
export type KeyInUse = ListedKey & { readonly use: NonNullable<ListedKey['use']> };

export const isInUse = (key: ListedKey): key is KeyInUse => key.use !== null;

const none = <span className="text-muted">no limit</span>;

/** Spent today out of the most per day. For the width of a bar only: what is shown is the text of the API. */
const Spending = ({ apiKey: { name, limits, use } }: { apiKey: KeyInUse }) =>
  limits.perDay === null || use.spentToday === null ? (
    none
  ) : (
    <Meter
      label={`Spent today by ${name}`}
      value={Number(use.spentToday)}
      max={Number(limits.perDay)}
      text={`${use.spentToday} of ${limits.perDay} USDC`}
    />
  );

export const keyUseColumns: readonly Column<KeyInUse>[] = [
  {
    id: 'name',
    header: 'Key',
    cell: ({ name, start }) => (
      <div className="max-w-64 min-w-32">
        <div className="font-medium wrap-anywhere">{name}</div>
        <div className="font-mono text-[13px] text-muted">{start}…</div>
      </div>
    ),
  },
  {
    id: 'requests',
    header: 'Requests, this hour',
    cell: ({ name, use }) => <LimitMeter label={`Requests of ${name}`} use={use.api} />,
  },
  {
    id: 'invocations',
    header: 'Invocations, this hour',
    cell: ({ name, use }) => <LimitMeter label={`Invocations of ${name}`} use={use.invocations} />,
  },
  { id: 'perDay', header: 'Spent today (UTC)', cell: (apiKey) => <Spending apiKey={apiKey} /> },
  {
    id: 'perCall',
    header: 'Most per call',
    align: 'right',
    cell: ({ limits }) => (limits.perCall === null ? none : `${limits.perCall} USDC`),
  },
  {
    id: 'agents',
    header: 'Agents',
    align: 'right',
    cell: ({ limits }) => (limits.allowedAgents === null ? 'all' : String(limits.allowedAgents.length)),
  },
  {
    id: 'lastUsed',
    header: 'Last used',
    align: 'right',
    cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} none="never" />,
  },
];
