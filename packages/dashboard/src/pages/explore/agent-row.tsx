import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { rowLinkClass } from '../../ui/layout/data-table.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { Identicon } from '../../ui/values/identicon.tsx';
import { Money } from '../../ui/values/money.tsx';
import { Reputation } from '../../ui/values/reputation.tsx';
import { VerifiedMark } from '../../ui/values/verified-mark.tsx';

const SHOWN_CAPABILITIES = 6;

interface AgentRowProps {
  readonly agent: AgentListItem;
  readonly description?: string | undefined;
  /** Shown beside the facts of every agent. */
  readonly aside?: ReactNode;
}

/** An agent in a list; all of it leads to its page. */
export const AgentRow = ({ agent, description, aside }: AgentRowProps) => (
  <li className="relative flex gap-3 border-b border-line px-4 py-3 last:border-b-0 hover:bg-sunken/60">
    <Identicon id={agent.id} className="size-9 max-sm:hidden" />
    <div className="min-w-0 flex-1">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <Link
            to="/explore/$agentId"
            params={{ agentId: agent.id }}
            className={`${rowLinkClass} min-w-0 wrap-anywhere`}
          >
            <bdi>{agent.name}</bdi>
          </Link>
          <Status value={agent.status} />
          <VerifiedMark isVerified={agent.verified} />
          {aside}
        </div>
        <Price amount={agent.rates.perRequest} />
      </div>
      {description && (
        <p dir="auto" className="mt-0.5 line-clamp-2 wrap-anywhere">
          {description}
        </p>
      )}
      <p className="mt-0.5 flex flex-wrap gap-x-3 text-[13px] text-muted">
        <span>
          {agent.isNew ? null : 'reputation '}
          <Reputation of={agent} />
        </span>
        {Number.parseFloat(agent.responseTime) > 0 && (
          <span>
            responds in <Duration value={agent.responseTime} />
          </span>
        )}
        <bdi className="min-w-0 wrap-anywhere">{agent.location}</bdi>
      </p>
      <Capabilities list={agent.capabilities} />
    </div>
  </li>
);

const Price = ({ amount }: { amount: string }) =>
  Number(amount) === 0 ? (
    <span>Free</span>
  ) : (
    <span>
      <Money amount={amount} /> <span className="text-muted">per request</span>
    </span>
  );

const Capabilities = ({ list }: { list: readonly string[] }) => (
  <div className="mt-1.5 flex max-w-full flex-wrap gap-1 overflow-hidden">
    {list.slice(0, SHOWN_CAPABILITIES).map((each) => (
      <Badge key={each}>{each}</Badge>
    ))}
    {list.length > SHOWN_CAPABILITIES && (
      <span className="text-[13px] text-muted">+{list.length - SHOWN_CAPABILITIES} more</span>
    )}
  </div>
);
