import type { EndpointProofName } from '@agent-network/contracts/agents/identity';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { proofSamples } from './agent-samples.ts';
import { protocolNames } from './protocol-names.ts';

/** The proof that passed. */
const passedBy: Readonly<Record<EndpointProofName, string>> = {
  challenge: 'The endpoint is verified.',
  'well-known': 'The well-known file of its origin names the agent.',
  card: 'Its agent card names the agent.',
  dns: 'A DNS record of its host names the agent.',
  erc8004: 'A token of the owner lists the endpoint.',
};

/** Checks the endpoint now, and shows the result; until it is proven, also the instructions. */
export function ProveEndpoint({ agent }: { agent: OwnAgent }) {
  const { endpointProvenAt, lastCheckAt, nextCheckAt } = agent.verification;
  const check = useApiMutation('verifyIdentity', { invalidates: ['listOwnAgents', 'getIdentity', 'getAgent'] });
  const answer = check.data && 'proof' in check.data && check.data.proof === 'endpoint' ? check.data : undefined;
  return (
    <div className="space-y-3">
      {endpointProvenAt === null && (
        <>
          <HowToProve agent={agent} />
          <CodeBlock label="How to verify the endpoint" samples={proofSamples(agent)} />
        </>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button
          icon="refresh"
          variant={endpointProvenAt === null ? 'primary' : 'secondary'}
          isBusy={check.isPending}
          onClick={() => check.mutate({ body: { agentId: agent.id, proof: 'endpoint' } })}
        >
          Check endpoint now
        </Button>
        <span className="text-[13px] text-muted">
          checked <TimeAgo at={lastCheckAt} none="never" />
          {nextCheckAt && (
            <>
              , next <TimeAgo at={nextCheckAt} />
            </>
          )}
        </span>
      </div>
      <div role="status" className="empty:hidden">
        {answer && answer.reason === null && (
          <p className="flex items-center gap-2">
            <Badge tone="good">passed</Badge> {passedBy[answer.by ?? 'challenge']}
          </p>
        )}
      </div>
      <ErrorNote title="Not verified" error={answer ? answer.reason : endpointProvenAt === null && agent.fault} />
      <ErrorNote error={check.error} />
    </div>
  );
}

function HowToProve({ agent: { endpoint, protocol } }: { agent: OwnAgent }) {
  const address = <span className="font-mono text-[13px] break-all">{endpoint}</span>;
  if (protocol === 'http')
    return (
      <p className="text-muted">
        The node sends a challenge to {address}. Answer it with the identity token, or publish one of the other proofs
        below.
      </p>
    );
  return (
    <p className="text-muted">
      {address} speaks {protocolNames[protocol]}, so it can't answer this node's challenge. Publish one of the proofs
      below, which only the owner of the address can do. If you can't, run <code>agentnet serve</code> in front of it.
    </p>
  );
}
