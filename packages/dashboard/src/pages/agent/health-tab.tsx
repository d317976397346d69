import type { AgentHealth } from '@agent-network/contracts/agents/agent-figures';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { useApi } from '../../app/api-query.ts';
import { useSessionInfo } from '../../app/session.ts';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart, countText, LineChart } from '../../ui/chart/chart.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Duration, durationText } from '../../ui/values/duration.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { percentText } from '../../ui/values/percent.ts';

const periods = [
  { value: '1', label: 'Today' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
] as const;
type Days = (typeof periods)[number]['value'];

interface HealthTabProps {
  readonly agent: AgentDetail;
  readonly days: string | undefined;
  readonly onDays: (days: string) => void;
}

/** Results and response times of the agent's health checks. */
export function HealthTab({ agent, days, onDays }: HealthTabProps) {
  const { label } = useSessionInfo();
  const shown: Days = periods.find(({ value }) => value === days)?.value ?? '7';
  const call = { params: { id: agent.id }, query: { days: shown } };
  const { data, error, refetch } = useApi('getAgentHealth', call, { keepsPrevious: true });
  return (
    <div className="space-y-5">
      <div className="w-36">
        <Select aria-label="Period" value={shown} onChange={onDays} options={periods} />
      </div>
      {!data && <Waiting error={error} onRetry={() => void refetch()} />}
      {data?.checks === 0 && (
        <EmptyState title="No checks in this period">
          {agent.location === label
            ? "Checks start once an agent's endpoint is verified."
            : 'This agent is on another node, which runs its own health checks.'}
        </EmptyState>
      )}
      {data && data.checks > 0 && <Health health={data} />}
    </div>
  );
}

function Health({ health }: { health: AgentHealth }) {
  const theme = useShownTheme();
  const { buckets } = health;
  const timesMs = buckets.map(({ from }) => Date.parse(from));
  return (
    <>
      <Stats>
        <Stat label="Uptime" value={percentText(health.uptime)} />
        <Stat label="Checks" value={groupDigits(health.checks)} hint={`${health.failed} unanswered`} />
        <Stat label="Median response" value={<Duration value={health.p50Ms} />} />
        <Stat label="95th percentile" value={<Duration value={health.p95Ms} />} />
      </Stats>
      <Card title="Response time">
        <LineChart
          title="Response time to health checks"
          timesMs={timesMs}
          series={[
            { label: 'Median', values: buckets.map(({ p50Ms }) => p50Ms) },
            { label: '95th percentile', values: buckets.map(({ p95Ms }) => p95Ms), tone: 'muted' },
          ]}
          format={durationText}
          theme={theme}
        />
      </Card>
      <Card title="Unanswered checks">
        <BarChart
          title="Unanswered health checks"
          none="None in this period"
          timesMs={timesMs}
          series={[{ label: 'unanswered', values: buckets.map(({ failed }) => failed), tone: 'bad' }]}
          format={countText}
          heightPx={140}
          theme={theme}
        />
      </Card>
    </>
  );
}
