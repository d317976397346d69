import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';

/** Has the node give the agent's token to its owner's wallet. */
export function ClaimToken({ agentId, isWalletProven }: { agentId: string; isWalletProven: boolean }) {
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
