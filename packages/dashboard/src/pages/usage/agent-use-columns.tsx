import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { Link } from '@tanstack/react-router';
import type { Column } from '../../ui/layout/data-table.tsx';
import { rowLinkClass } from '../../ui/layout/data-table.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';

type AgentUse = DataOf<Api['getUsage']>['agents'][number];

const count = (value: number) => groupDigits(String(value));

export const agentUseColumns: readonly Column<AgentUse>[] = [
  {
    id: 'agent',
    header: 'Agent',
    cell: ({ agentId, agentName }) => (
      <Link to="/invocations" search={{ agentId }} className={`${rowLinkClass} block max-w-80 min-w-32 wrap-anywhere`}>
        {agentName}
      </Link>
    ),
  },
  { id: 'requests', header: 'Requests', align: 'right', cell: ({ requests }) => count(requests) },
  { id: 'completed', header: 'Completed', align: 'right', cell: ({ completed }) => count(completed) },
  { id: 'failed', header: 'Failed', align: 'right', cell: ({ failed }) => count(failed) },
  { id: 'spent', header: 'Spent', align: 'right', cell: ({ spent }) => <Money amount={spent} /> },
];
