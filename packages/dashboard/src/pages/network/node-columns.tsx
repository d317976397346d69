import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { Copyable } from '../../ui/controls/copyable.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { ExternalLink } from '../../ui/values/link.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

export type NetworkNode = DataOf<Api['getNetwork']>['nodes'][number];

const NodeName = ({ node: { label, baseUrl } }: { node: NetworkNode }) => (
  <div className="max-w-80 min-w-48">
    <div className="font-medium wrap-anywhere">
      <bdi>{label}</bdi>
    </div>
    <div className="text-[13px]">
      <ExternalLink href={baseUrl} />
    </div>
  </div>
);

export const nodeColumns: readonly Column<NetworkNode>[] = [
  { id: 'node', header: 'Node', cell: (node) => <NodeName node={node} /> },
  { id: 'status', header: 'State', cell: ({ status }) => <Status value={status} /> },
  { id: 'agents', header: 'Agents', align: 'right', cell: ({ agents }) => groupDigits(String(agents)) },
  { id: 'seen', header: 'Last seen', cell: ({ lastSeen }) => <TimeAgo at={lastSeen} /> },
  { id: 'joined', header: 'Joined', cell: ({ joinedAt }) => <TimeAgo at={joinedAt} /> },
  { id: 'version', header: 'Version', cell: ({ version }) => <bdi className="wrap-anywhere">{version}</bdi> },
  { id: 'wallet', header: 'Wallet', cell: ({ wallet }) => <Copyable label="wallet" text={wallet} short /> },
];
