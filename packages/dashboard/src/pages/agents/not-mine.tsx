import { Link } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { ProveWallet } from './prove-wallet.tsx';

/** An agent that is not the account's, or not yet: whose token came to its wallet may take it over. */
export function NotMine({ agentId }: { agentId: string }) {
  const { address } = useSession();
  const { data, error, refetch } = useApi('getIdentity', { params: { id: agentId } });
  if (!data)
    return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-40 w-full" />;
  if (data.owner.toLowerCase() === address.toLowerCase() || data.onChain?.owner.toLowerCase() === address.toLowerCase())
    return (
      <Card title="You now hold this agent's token">
        <p className="mb-3">
          Take over <bdi className="font-medium wrap-anywhere">{data.name}</bdi> by verifying your wallet. Its treasury
          and earnings become yours.
        </p>
        <ProveWallet agentId={agentId} owner={address} />
      </Card>
    );
  return (
    <EmptyState title="This agent isn't yours">
      <Link to="/agents" className={linkClass}>
        Go to your agents
      </Link>
    </EmptyState>
  );
}
