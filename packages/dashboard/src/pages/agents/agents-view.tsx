import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { buttonClass } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Pagination } from '../../ui/layout/pagination.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { Icon } from '../../ui/values/icon.tsx';
import { Identicon } from '../../ui/values/identicon.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { Reputation } from '../../ui/values/reputation.tsx';
import { VerifiedMark } from '../../ui/values/verified-mark.tsx';
import { registerCommand } from './agent-samples.ts';
import { verificationParts } from './verification.ts';

const agentColumns: readonly Column<OwnAgent>[] = [
  {
    header: 'Agent',
    cell: ({ id, name }) => (
      <span className="flex items-center gap-2.5">
        <Identicon id={id} className="size-6" />
        <Link
          to="/agents/$agentId"
          params={{ agentId: id }}
          className={`${rowLinkClass} block max-w-44 min-w-24 truncate`}
        >
          <bdi>{name}</bdi>
        </Link>
      </span>
    ),
  },
  {
    header: 'Status',
    phone: 'top',
    cell: ({ status, frozen }) => (
      <span className="flex gap-1">
        <Status value={status} />
        {frozen && <Badge tone="bad">frozen</Badge>}
      </span>
    ),
  },
  { header: 'Verification', phone: 'bare', cell: (agent) => <VerificationBadge agent={agent} /> },
  { header: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance.available} /> },
  { header: 'Earned today', align: 'right', cell: ({ earned }) => groupDigits(earned.today) },
  { header: '7 days', align: 'right', phone: 'none', cell: ({ earned }) => groupDigits(earned.days7) },
  { header: '30 days', align: 'right', phone: 'none', cell: ({ earned }) => groupDigits(earned.days30) },
  { header: 'Calls (7 days)', align: 'right', cell: ({ calls7 }) => groupDigits(calls7) },
  {
    header: 'Failed',
    align: 'right',
    phone: 'none',
    cell: ({ failures7 }) => (failures7 > 0 ? <span className="text-bad">{groupDigits(failures7)}</span> : '0'),
  },
  { header: 'Reputation', align: 'right', phone: 'none', cell: (agent) => <Reputation of={agent} /> },
];

function VerificationBadge({ agent }: { agent: OwnAgent }) {
  const open = verificationParts(agent).filter(({ isDone }) => !isDone);
  if (open.length === 0) return <Badge tone="good">complete</Badge>;
  return agent.verified ? (
    <VerifiedMark isVerified />
  ) : (
    <span className="whitespace-nowrap text-muted">to do: {open.map(({ name }) => name).join(', ')}</span>
  );
}

const PAGE_SIZE = 50;

/** The agents of the account, newest first, with status and earnings. */
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
            summary={`${groupDigits(data.total)} agents`}
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
