import { useApi } from '../../app/api-query.ts';
import { Card } from '../../ui/layout/card.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { percentText } from '../../ui/values/percent.ts';
import { AgentRow } from '../explore/agent-row.tsx';

/** Agents that could do the same, the most similar first. */
export function Alternatives({ agentId }: { agentId: string }) {
  const { data, error, refetch } = useApi('listAlternatives', { params: { id: agentId } });
  const isPlain = !data || data.agents.length === 0;
  return (
    <Card title="Alternatives" isFlush={!isPlain}>
      {!data &&
        (error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-16 w-full" />)}
      {data?.agents.length === 0 && <p className="text-muted">No other online agent can do this.</p>}
      {!isPlain && (
        <ul aria-label="Alternatives">
          {data.agents.map((agent) => (
            <AgentRow
              key={agent.id}
              agent={agent}
              aside={<Badge tone="accent">{percentText(agent.similarity)} similar</Badge>}
            />
          ))}
        </ul>
      )}
    </Card>
  );
}
