import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { ChainIndex } from '@agent-network/contracts/network/network';
import { useApi } from '../../app/api-query.ts';
import { ChainName } from '../../app/chain-name.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { ExternalLink } from '../../ui/values/link.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { nodeColumns } from './node-columns.tsx';

type Network = DataOf<Api['getNetwork']>;

/** Blocks come without events. */
const LOOK_MS = 10_000;

const grouped = (count: number) => groupDigits(String(count));

/** The nodes that this one knows, and how far it has read the registry that they share. */
export function NetworkView() {
  const { data, error, refetch } = useApi('getNetwork', {}, { refetchIntervalMs: LOOK_MS });
  return (
    <Page title="Network" description="Nodes discover each other and their agents through an on-chain registry.">
      {!data && error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-64 w-full" />}
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
      <Stat label="Agents on this node" value={grouped(agents.local)} />
      <Stat label="Agents on other nodes" value={grouped(agents.remote)} />
      <Stat label="Index lag" value={index.lagBlocks === 1 ? '1 block' : `${grouped(index.lagBlocks)} blocks`} />
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
          <EmptyState title="No other nodes yet" command={`curl ${location.origin}/network`}>
            Nodes appear here once they register themselves on chain.
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
    <FactRow label="Indexed to block">{grouped(index.block)}</FactRow>
    <FactRow label="Chain head">{grouped(index.headBlock)}</FactRow>
    <FactRow label="Lag">{index.lagBlocks === 0 ? 'none' : `${grouped(index.lagBlocks)} blocks`}</FactRow>
  </dl>
);
