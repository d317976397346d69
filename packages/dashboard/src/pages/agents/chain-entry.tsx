import type { IdentityRecord } from '@agent-network/contracts/agents/identity';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { useApiMutation } from '../../app/api-query.ts';
import { ChainName } from '../../app/chain-name.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { LinkToken } from './link-token.tsx';
import { pointsHere } from './verification.ts';

interface ChainEntryProps {
  readonly agent: OwnAgent;
  readonly identity: IdentityRecord;
}

const waiting = {
  none: 'Once verified, the agent gets a token if this node writes to the registry.',
  due: 'The node is about to register it on chain.',
  sent: 'Registration transaction sent.',
} as const;

/** An agent's registry entry: its state, the transfer of its token to the owner, or linking a token that the owner already has. */
export function ChainEntry({ agent, identity }: ChainEntryProps) {
  const { onChain, registration, proofs } = identity;
  const { tokenId, tokenClaimedAt } = agent.verification;
  const isClaimed = tokenClaimedAt !== null;
  return (
    <div className="space-y-4">
      {registration !== 'registered' && (
        <p role="status" className="text-muted">
          {waiting[registration]}
        </p>
      )}
      {onChain && <Entry onChain={onChain} />}
      {onChain && !isClaimed && <ClaimToken agentId={agent.id} isWalletProven={proofs.wallet !== null} />}
      {proofs.wallet !== null && !(isClaimed && pointsHere(agent, identity)) && (
        <LinkToken agentId={agent.id} tokenId={isClaimed ? (tokenId ?? '') : ''} />
      )}
    </div>
  );
}

const Entry = ({ onChain }: { onChain: NonNullable<IdentityRecord['onChain']> }) => (
  <dl className="max-w-xl">
    <FactRow label="Chain">
      <ChainName />
    </FactRow>
    <FactRow label="Token">
      <Copyable label="token id" text={onChain.tokenId} />
    </FactRow>
    <FactRow label="Registry">
      <Copyable label="registry" text={onChain.registry} short />
    </FactRow>
    <FactRow label="Held by">
      <span className="inline-flex items-center gap-2">
        <span>{onChain.custody === 'owner' ? 'the owner' : 'the node'}</span>
        <Copyable label="holder" text={onChain.owner} short />
      </span>
    </FactRow>
    {onChain.transactionHash && (
      <FactRow label="Registration transaction">
        <Copyable label="transaction hash" text={onChain.transactionHash} short />
      </FactRow>
    )}
    {onChain.agentURI && (
      <FactRow label="Points to">
        <Copyable label="registration address" text={onChain.agentURI} />
      </FactRow>
    )}
    <FactRow label="State">
      <Status value="registered" />
    </FactRow>
  </dl>
);

/** Has the node give the agent's token to its owner's wallet. */
function ClaimToken({ agentId, isWalletProven }: { agentId: string; isWalletProven: boolean }) {
  const claim = useApiMutation('claimToken', { invalidates: ['listOwnAgents', 'getIdentity'] });
  return (
    <div className="space-y-2">
      <p className="text-muted">
        The node is holding the token for you. Claim it to your wallet to keep it, sell it or point it elsewhere.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        <Button
          icon="download"
          isBusy={claim.isPending}
          disabled={!isWalletProven}
          onClick={() => claim.mutate({ params: { id: agentId } })}
        >
          Claim the token
        </Button>
        {!isWalletProven && <span className="text-[13px] text-muted">Verify the wallet first.</span>}
        {claim.data && (
          <span role="status" className="flex items-center gap-2">
            <Status value={claim.data.state} />
            {claim.data.transactionHash && (
              <Copyable label="transaction hash" text={claim.data.transactionHash} short />
            )}
          </span>
        )}
      </div>
      <ErrorNote error={claim.error} />
    </div>
  );
}
