import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { type Column, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { Identicon } from '../../ui/values/identicon.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { verificationParts } from './verification.ts';

const count = (value: number) => groupDigits(String(value));

export const agentColumns: readonly Column<OwnAgent>[] = [
  {
    id: 'name',
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
    id: 'status',
    header: 'Status',
    cell: ({ status, frozen }) => (
      <span className="flex gap-1">
        <Status value={status} />
        {frozen && <Badge tone="bad">frozen</Badge>}
      </span>
    ),
  },
  { id: 'verification', header: 'Verification', cell: (agent) => <VerificationBadge agent={agent} /> },
  { id: 'balance', header: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance.available} /> },
  { id: 'today', header: 'Earned today', align: 'right', cell: ({ earned }) => groupDigits(earned.today) },
  { id: 'days7', header: '7 days', align: 'right', cell: ({ earned }) => groupDigits(earned.days7) },
  { id: 'days30', header: '30 days', align: 'right', cell: ({ earned }) => groupDigits(earned.days30) },
  { id: 'calls', header: 'Calls (7 days)', align: 'right', cell: ({ calls7 }) => count(calls7) },
  {
    id: 'failures',
    header: 'Failed',
    align: 'right',
    cell: ({ failures7 }) => (failures7 > 0 ? <span className="text-bad">{count(failures7)}</span> : '0'),
  },
  { id: 'reputation', header: 'Reputation', align: 'right', cell: ({ reputation }) => Math.round(reputation) },
];

function VerificationBadge({ agent }: { agent: OwnAgent }) {
  const open = verificationParts(agent).filter(({ isDone }) => !isDone);
  if (open.length === 0) return <Badge tone="good">complete</Badge>;
  return agent.verified ? (
    <Badge tone="good">verified</Badge>
  ) : (
    <span className="whitespace-nowrap text-muted">to do: {open.map(({ name }) => name).join(', ')}</span>
  );
}
