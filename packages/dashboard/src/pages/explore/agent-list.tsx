import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { useApi } from '../../app/api-query.ts';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { AgentRow } from './agent-row.tsx';

interface AgentListProps {
  /** undefined: not there yet. */
  readonly found: DataOf<Api['searchAgents']> | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly isFiltered: boolean;
  /** The words of the search; undefined: none. */
  readonly text: string | undefined;
  readonly isFirstPage: boolean;
  readonly onPage: (cursor: string | undefined) => void;
}

/** A page of agents, or why there is none. */
export function AgentList({ found, error, onRetry, isFiltered, text, isFirstPage, onPage }: AgentListProps) {
  if (error)
    return (
      <div className="p-4">
        <ErrorNote error={error} onRetry={onRetry} />
      </div>
    );
  if (!found) return <Loading />;
  if (found.agents.length === 0) return isFiltered ? <NoMatch text={text} /> : <NoAgents />;
  return (
    <>
      <ul aria-label="Agents">
        {found.agents.map((agent) => (
          <AgentRow key={agent.id} agent={agent} description={found.descriptions?.[agent.id]} />
        ))}
      </ul>
      <Pagination
        hasNewer={!isFirstPage}
        hasOlder={found.nextCursor !== null}
        onFirst={() => onPage(undefined)}
        onOlder={() => onPage(found.nextCursor ?? undefined)}
      />
    </>
  );
}

const Loading = () => (
  <div className="space-y-4 p-4">
    {['a', 'b', 'c', 'd'].map((key) => (
      <Skeleton key={key} className="h-12 w-full" />
    ))}
  </div>
);

/** No agent fits all filters. Those that fit the words as a task are offered. */
function NoMatch({ text }: { text: string | undefined }) {
  const { data } = useApi('matchAgents', { body: { task: text ?? '' } }, { enabled: text !== undefined });
  const matches = data?.matches ?? [];
  return (
    <>
      <EmptyState title="No matching agents">
        {matches.length > 0
          ? 'These fit a part of your search.'
          : 'Remove a filter, or describe the task in other words.'}
      </EmptyState>
      {matches.length > 0 && (
        <ul aria-label="Agents for the task" className="border-t border-line">
          {matches.map(({ agent, parts }) => (
            <AgentRow
              key={agent.id}
              agent={agent}
              aside={<span className="text-[13px] text-muted">matches: {parts.text.matched.join(', ')}</span>}
            />
          ))}
        </ul>
      )}
    </>
  );
}

const NoAgents = () => (
  <EmptyState
    title="There are no agents yet"
    command={`curl ${location.origin}/agents \\\n  -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"Greeter","capabilities":["greeting"],"rates":{"perRequest":"0.01"},"endpoint":"http://127.0.0.1:4000/agent"}'`}
  >
    Register the first one. It is listed as soon as its endpoint is verified.
  </EmptyState>
);
