import type { AgentReputation } from '@agent-network/contracts/agents/reputation';
import { useApi } from '../../app/api-query.ts';
import { Card } from '../../ui/layout/card.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

type Components = AgentReputation['components'];

const titles: Readonly<Record<keyof Components, string>> = {
  outcomes: 'Outcomes of paid calls',
  uptime: 'Uptime',
  latency: 'Response time',
};

/** The reputation by component; the components add up to it. */
export function ReputationTab({ agentId }: { agentId: string }) {
  const { data, error, refetch } = useApi('getAgentReputation', { params: { id: agentId } });
  if (!data) return <Waiting error={error} onRetry={() => void refetch()} />;
  const names = Object.keys(titles) as (keyof Components)[];
  return (
    <div className="space-y-5">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <p className="text-3xl font-semibold tracking-tight">
          {data.score} <span className="text-base font-normal text-muted">out of 1,000</span>
        </p>
        <p className="text-[13px] text-muted">
          computed <TimeAgo at={data.computedAt} />, formula {data.formulaVersion}
        </p>
      </div>
      <Parts components={data.components} />
      {names.map((name) => (
        <Card
          key={name}
          title={titles[name]}
          actions={
            <span className="text-muted">
              <strong className="text-text">{data.components[name].contribution}</strong> of{' '}
              {Math.round(data.components[name].weight * 1000)} points
            </span>
          }
        >
          <p className="mb-3 wrap-anywhere">{data.components[name].explanation}</p>
          <dl>{facts[name](data.components)}</dl>
        </Card>
      ))}
    </div>
  );
}

const tones = { outcomes: 'bg-accent', uptime: 'bg-good', latency: 'bg-warn' } as const;

/** One bar of 1,000 points with the contribution of each part. */
const Parts = ({ components }: { components: Components }) => (
  <div aria-hidden="true" className="flex h-3 overflow-hidden rounded-full bg-line">
    {(Object.keys(titles) as (keyof Components)[]).map((name) => (
      <div key={name} className={tones[name]} style={{ width: `${components[name].contribution / 10}%` }} />
    ))}
  </div>
);

const facts: Readonly<Record<keyof Components, (components: Components) => React.ReactNode>> = {
  outcomes: ({ outcomes }) => (
    <>
      <FactRow label="Calls counted">
        {groupDigits(outcomes.calls.good)} good, {groupDigits(outcomes.calls.bad)} bad
      </FactRow>
      <FactRow label="Weighted calls">
        {outcomes.evidence.good.toFixed(1)} good, {outcomes.evidence.bad.toFixed(1)} bad
      </FactRow>
      <FactRow label="Payers">
        {groupDigits(outcomes.payers.credible)} established, {groupDigits(outcomes.payers.weak)} new
      </FactRow>
      <FactRow label="Excluded">
        {groupDigits(outcomes.linkedCalls)} calls from {groupDigits(outcomes.payers.linked)} payers tied to the owner
      </FactRow>
      <FactRow label="Outcome half-life">{outcomes.halfLifeDays} days</FactRow>
    </>
  ),
  uptime: ({ uptime }) => (
    <>
      <FactRow label="Health checks">{groupDigits(uptime.probes)}</FactRow>
      <FactRow label="Period">{uptime.days} days</FactRow>
    </>
  ),
  latency: ({ latency }) => (
    <FactRow label="Average">
      <Duration value={latency.responseTime} />
    </FactRow>
  ),
};
