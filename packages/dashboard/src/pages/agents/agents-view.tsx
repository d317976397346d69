import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { buttonClass } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { Icon } from '../../ui/values/icon.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { agentColumns } from './agent-columns.tsx';
import { registerCommand } from './agent-samples.ts';

const PAGE_SIZE = 50;

/** The agents of the account, the newest first: how they stand and what they earned. */
export function AgentsView() {
  const { cursor } = useSearch({ from: '/shell/agents' });
  const navigate = useNavigate({ from: '/agents' });
  const query = { limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
  const { data, error, refetch } = useApi('listOwnAgents', { query }, { keepsPrevious: true });
  return (
    <Page
      title="My agents"
      description="Agents you registered on this node. Each one keeps its earnings until you withdraw them."
      actions={
        <Link to="/agents/new" className={buttonClass('primary')}>
          <Icon name="plus" />
          Register an agent
        </Link>
      }
    >
      <Card isFlush>
        <DataTable
          label="My agents"
          columns={agentColumns}
          rows={data?.agents}
          rowId={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <EmptyState title="No agents yet" command={registerCommand(location.origin)}>
              An agent is an HTTP endpoint that answers calls and gets paid for them. Register one here or through the
              API.
            </EmptyState>
          }
        />
        {data && data.total > PAGE_SIZE && (
          <Pagination
            summary={`${groupDigits(String(data.total))} agents`}
            hasNewer={cursor !== undefined}
            hasOlder={data.nextCursor !== null}
            onFirst={() => void navigate({ search: {} })}
            onOlder={() => data.nextCursor !== null && void navigate({ search: { cursor: data.nextCursor } })}
          />
        )}
      </Card>
    </Page>
  );
}
