import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { ChainIndex } from '@agent-network/contracts/network/network';
import { useApi } from '../../app/api-query.ts';
import { ChainName } from '../../app/chain-name.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { ExternalLink } from '../../ui/values/link.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

type NetworkNode = DataOf<Api['getNetwork']>['nodes'][number];

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

const nodeColumns: readonly Column<NetworkNode>[] = [
  { header: 'Node', cell: (node) => <NodeName node={node} /> },
  { header: 'State', phone: 'top', cell: ({ status }) => <Status value={status} /> },
  { header: 'Agents', align: 'right', cell: ({ agents }) => groupDigits(agents) },
  { header: 'Last seen', cell: ({ lastSeen }) => <TimeAgo at={lastSeen} /> },
  { header: 'Joined', phone: 'none', cell: ({ joinedAt }) => <TimeAgo at={joinedAt} /> },
  { header: 'Version', phone: 'bare', cell: ({ version }) => <bdi className="wrap-anywhere">{version}</bdi> },
  { header: 'Wallet', phone: 'none', cell: ({ wallet }) => <Copyable label="wallet" text={wallet} short /> },
];

type Network = DataOf<Api['getNetwork']>;

/** Blocks come without events. */
const LOOK_MS = 10_000;

/** The nodes that this one knows, and how far it has read the registry that they share. */
export function NetworkView() {
  const { data, error, refetch } = useApi('getNetwork', {}, { refetchIntervalMs: LOOK_MS });
  return (
    <Page title="Network" description="Nodes discover each other and their agents through an on-chain registry.">
      {!data && <Waiting error={error} onRetry={() => void refetch()} />}
      {data && <NetworkParts network={data} />}
    </Page>
  );
}

const onlineText = (nodes: Network['nodes']): string =>
  nodes.length === 0 ? 'None known' : `${nodes.filter(({ status }) => status === 'online').length} of ${nodes.length}`;

const NetworkParts = ({ network: { node, index, agents, nodes } }: { network: Network }) => (
  <>
    <Stats>
      <Stat label="Other nodes online" value={onlineText(nodes)} />
      <Stat label="Agents on this node" value={groupDigits(agents.local)} />
      <Stat label="Agents on other nodes" value={groupDigits(agents.remote)} />
      <Stat label="Index lag" value={index.lagBlocks === 1 ? '1 block' : `${groupDigits(index.lagBlocks)} blocks`} />
    </Stats>
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title="This node">
        <dl>
          <FactRow label="Label">
            <bdi>{node.label}</bdi>
          </FactRow>
          <FactRow label="Address">
            <ExternalLink href={node.baseUrl} />
          </FactRow>
          <FactRow label="Version">{node.version}</FactRow>
          <FactRow label="Wallet">
            <Copyable label="wallet" text={node.wallet} short />
          </FactRow>
          <FactRow label="Registry entry">
            {node.tokenId === null ? <span className="text-muted">none yet</span> : `#${node.tokenId}`}
          </FactRow>
        </dl>
      </Card>
      <Card title="Chain index" actions={<Status value={index.state} />}>
        <IndexDetails index={index} />
      </Card>
    </div>
    <Card title="Other nodes" isFlush>
      <DataTable
        label="Nodes"
        columns={nodeColumns}
        rows={nodes}
        rowId={({ nodeId }) => nodeId}
        empty={
          <EmptyState title="No other nodes yet">
            Nodes appear here once they register themselves on chain. You can start a second one on your own machine.
          </EmptyState>
        }
      />
    </Card>
  </>
);

const IndexDetails = ({ index }: { index: ChainIndex }) => (
  <dl>
    <FactRow label="Chain">
      <ChainName />
    </FactRow>
    <FactRow label="Registry">
      <Copyable label="registry address" text={index.registry} short />
    </FactRow>
    <FactRow label="Indexed to block">{groupDigits(index.block)}</FactRow>
    <FactRow label="Chain head">{groupDigits(index.headBlock)}</FactRow>
    <FactRow label="Lag">{index.lagBlocks === 0 ? 'none' : `${groupDigits(index.lagBlocks)} blocks`}</FactRow>
  </dl>
);
