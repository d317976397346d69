import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { proofSamples } from './agent-samples.ts';

/** Has the node ask the endpoint now, and shows what came back; until it is proven, with how to do it. */
export function ProveEndpoint({ agent }: { agent: OwnAgent }) {
  const { endpointProvenAt, lastCheckAt, nextCheckAt } = agent.verification;
  const check = useApiMutation('verifyIdentity', { invalidates: ['listOwnAgents', 'getIdentity', 'getAgent'] });
  const answer = check.data && 'proof' in check.data && check.data.proof === 'endpoint' ? check.data : undefined;
  return (
    <div className="space-y-3">
      {endpointProvenAt === null && (
        <>
          <p className="text-muted">
            The node sends a challenge to <span className="font-mono text-[13px] break-all">{agent.endpoint}</span>.
            Answer it with the identity token, or serve a file on the same origin that names the agent.
          </p>
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
            <Badge tone="good">passed</Badge> The endpoint is verified.
          </p>
        )}
      </div>
      {answer && <ErrorNote title="Not verified" error={answer.reason} />}
      <ErrorNote error={check.error} />
    </div>
  );
}
