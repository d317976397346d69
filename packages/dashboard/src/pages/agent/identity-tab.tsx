import type { IdentityRecord } from '@agent-network/contracts/agents/identity';
import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { ChainName } from '../../app/chain-name.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { ExternalLink } from '../../ui/values/link.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

/** The agent's identity, its owner, and the state of each proof. */
export function IdentityTab({ agentId }: { agentId: string }) {
  const { data, error, refetch } = useApi('getIdentity', { params: { id: agentId } });
  if (!data) return <Waiting error={error} onRetry={() => void refetch()} />;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title="Verification">
        <dl>
          <Proof label="Endpoint" at={data.proofs.endpoint} />
          <Proof label="Owner's wallet" at={data.proofs.wallet} />
          <FactRow label="Owner">
            <ChainLink kind="address" label="owner" id={data.owner} />
          </FactRow>
          {data.frozen && (
            <FactRow label="Frozen">
              <span className="whitespace-normal text-warn">
                The token moved to a wallet that isn't verified here, so payments from the treasury are blocked.
              </span>
            </FactRow>
          )}
        </dl>
      </Card>
      <Card title="On chain">
        <OnChain record={data} />
      </Card>
    </div>
  );
}

const Proof = ({ label, at }: { label: string; at: string | null }) => (
  <FactRow label={label}>
    {at ? (
      <span className="inline-flex flex-wrap justify-end gap-x-2">
        <Badge tone="good">verified</Badge>
        <TimeAgo at={at} />
      </span>
    ) : (
      <Badge tone="warn">not verified</Badge>
    )}
  </FactRow>
);

const stages: Readonly<Record<IdentityRecord['registration'], string>> = {
  none: 'Not in the registry. Verified agents are added if their node writes to the registry.',
  due: 'It is about to be added to the registry.',
  sent: 'It is being added to the registry.',
  registered: 'It is in the registry.',
};

function OnChain({ record: { onChain, registration } }: { record: IdentityRecord }) {
  if (!onChain) return <p className="text-muted">{stages[registration]}</p>;
  return (
    <dl>
      <FactRow label="Chain">
        <ChainName />
      </FactRow>
      <FactRow label="Registry (ERC-8004)">
        <ChainLink kind="address" label="registry" id={onChain.registry} />
      </FactRow>
      <FactRow label="Token">
        <Copyable label="token" text={onChain.tokenId} />
      </FactRow>
      <FactRow label="Held by">
        {onChain.custody === 'node' ? 'the node, until its owner claims it' : 'its owner'}
      </FactRow>
      <FactRow label="On-chain owner">
        <ChainLink kind="address" label="owner on chain" id={onChain.owner} />
      </FactRow>
      {onChain.agentWallet && (
        <FactRow label="Agent wallet">
          <ChainLink kind="address" label="wallet of the agent" id={onChain.agentWallet} />
        </FactRow>
      )}
      {onChain.agentURI && (
        <FactRow label="Registration file">
          <ExternalLink href={onChain.agentURI} />
        </FactRow>
      )}
      {onChain.transactionHash && (
        <FactRow label="Registration transaction">
          <ChainLink kind="tx" label="transaction hash" id={onChain.transactionHash} />
        </FactRow>
      )}
      {onChain.registeredBlock !== null && <FactRow label="Block">{onChain.registeredBlock}</FactRow>}
    </dl>
  );
}
