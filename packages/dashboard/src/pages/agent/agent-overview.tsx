import type { AgentDetail, AgentInterfaces } from '@agent-network/contracts/agents/agents';
import { type CallSnippet, callSnippets } from '@agent-network/contracts/agents/call-snippets';
import { priceParts, priceRange } from '@agent-network/contracts/agents/price-text';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { useSessionInfo } from '../../app/session.ts';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Badge, badgeClass } from '../../ui/values/badge.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { ExternalLink } from '../../ui/values/link.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { percentText } from '../../ui/values/percent.ts';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { AgentRow } from '../explore/agent-row.tsx';

/** No uptime for an agent that answers and was not yet checked: its 0 means that nothing was measured. */
const uptimeOf = ({ uptime, online }: AgentDetail) => (uptime === 0 && online ? null : uptime);

const isMeasured = (duration: string) => Number.parseFloat(duration) > 0;

/** An agent's capabilities, prices and track record. */
export const AgentOverview = ({ agent }: { agent: AgentDetail & { readonly interfaces: AgentInterfaces } }) => (
  <div className="space-y-5">
    <Stats>
      <Stat label="Price" value={<Money amount={agent.rates.perRequest} />} hint="per request" />
      <Stat
        label="Reputation"
        value={agent.isNew ? 'New' : Math.round(agent.reputation)}
        hint={agent.isNew ? 'few customers yet' : 'out of 1,000'}
      />
      <Stat label="Calls" value={groupDigits(agent.totalRequests)} />
      <Stat label="Success rate" value={agent.totalRequests > 0 ? percentText(agent.successRate) : '–'} />
      <Stat
        label="Response time"
        value={<Duration value={isMeasured(agent.avgResponseTime) ? agent.avgResponseTime : null} />}
        hint="average"
      />
      <Stat label="Uptime" value={percentText(uptimeOf(agent))} hint="30 days" />
    </Stats>
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="min-w-0 space-y-5">
        <Card title="Description">
          {agent.description ? (
            <p dir="auto" className="max-h-96 overflow-y-auto wrap-anywhere whitespace-pre-wrap">
              {agent.description}
            </p>
          ) : (
            <p className="text-muted">No description.</p>
          )}
          <Terms label="Capabilities" names={agent.capabilities} search={(all) => ({ all })} />
          <Terms label="Tags" names={agent.metadata.tags ?? []} search={(text) => ({ text })} />
        </Card>
        <WaysToCall agent={agent} />
        <Alternatives agentId={agent.id} />
      </div>
      <div className="min-w-0 space-y-5">
        <Card title="Rates">
          <Rates rates={agent.rates} metadata={agent.metadata} />
        </Card>
        <Card title="About">
          <About agent={agent} />
        </Card>
      </div>
    </div>
  </div>
);

interface TermsProps {
  readonly label: string;
  readonly names: readonly string[];
  readonly search: (name: string) => Record<string, string>;
}

/** Each leads to the agents that have it too. */
const Terms = ({ label, names, search }: TermsProps) =>
  names.length === 0 ? null : (
    <div className="mt-4">
      <h3 className="mb-1.5 text-[13px] font-medium text-muted">{label}</h3>
      <ul aria-label={label} className="flex flex-wrap gap-1.5">
        {names.map((name) => (
          <li key={name} className="min-w-0 max-w-full">
            <Link to="/explore" search={search(name)} className={`${badgeClass('accent')} max-w-full hover:underline`}>
              <bdi className="truncate">{name}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );

const Rates = ({ rates, metadata }: Pick<AgentDetail, 'rates' | 'metadata'>) => (
  <dl>
    <FactRow label="Per request">
      <Money amount={rates.perRequest} />
    </FactRow>
    {priceParts(metadata).map((part) => (
      <FactRow key={part} label="Price changes">
        {part}
      </FactRow>
    ))}
  </dl>
);

const Text = ({ children }: { children: ReactNode }) => (
  <bdi className="wrap-anywhere whitespace-normal">{children}</bdi>
);

const About = ({ agent }: { agent: AgentDetail }) => (
  <dl>
    <FactRow label="Owner">
      <ChainLink kind="address" label="owner" id={agent.owner} />
    </FactRow>
    <FactRow label="Home node">
      <Text>{agent.location}</Text>
    </FactRow>
    <FactRow label="Endpoint">
      <Copyable label="endpoint" text={agent.endpoint} />
    </FactRow>
    {agent.metadata.website && (
      <FactRow label="Website">
        <ExternalLink href={agent.metadata.website} />
      </FactRow>
    )}
    {agent.metadata.avatar && (
      <FactRow label="Avatar">
        <Copyable label="avatar URL" text={agent.metadata.avatar} />
      </FactRow>
    )}
    {agent.metadata.maxConcurrency && <FactRow label="Max. concurrent calls">{agent.metadata.maxConcurrency}</FactRow>}
    <FactRow label="Last seen">
      <TimeAgo at={agent.lastSeen} />
    </FactRow>
    <FactRow label="Registered">
      <TimeAgo at={agent.createdAt} />
    </FactRow>
    <FactRow label="Updated">
      <TimeAgo at={agent.updatedAt} />
    </FactRow>
  </dl>
);

/** Agents that could do the same, the most similar first. */
function Alternatives({ agentId }: { agentId: string }) {
  const { data, error, refetch } = useApi('listAlternatives', { params: { id: agentId } });
  const isPlain = !data || data.agents.length === 0;
  return (
    <Card title="Alternatives" isFlush={!isPlain}>
      {!data && <Waiting error={error} onRetry={() => void refetch()} height="h-16" />}
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

interface WaysToCallProps {
  readonly agent: Pick<AgentDetail, 'id' | 'rates' | 'metadata'> & { readonly interfaces: AgentInterfaces };
}

/** The agent's call in each protocol that the node serves, to be copied. */
function WaysToCall({ agent: { id, rates, metadata, interfaces } }: WaysToCallProps) {
  const { chainId } = useSessionInfo();
  const price = priceRange({ perRequest: rates.perRequest, metadata }).max;
  const facts = { agentId: id, price, network: `eip155:${chainId}`, interfaces };
  const snippets: readonly CallSnippet[] = callSnippets(facts);
  return (
    <Card title="Ways to call">
      <CodeBlock label="Ways to call" samples={snippets} />
      <p className="mt-3 text-[13px] text-muted">
        Create a key under API keys. Calls with a key are paid from its treasury; an ordinary request costs{' '}
        {rates.perRequest} USDC.
      </p>
    </Card>
  );
}
