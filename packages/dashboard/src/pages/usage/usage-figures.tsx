import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { Link } from '@tanstack/react-router';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart, countText } from '../../ui/chart/chart.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { usdcText } from '../overview/overview.ts';
import { sumDays } from './usage.ts';

type Usage = DataOf<Api['getUsage']>;
type Day = Usage['days'][number];

type AgentUse = Usage['agents'][number];

const agentUseColumns: readonly Column<AgentUse>[] = [
  {
    header: 'Agent',
    cell: ({ agentId, agentName }) => (
      <Link to="/invocations" search={{ agentId }} className={`${rowLinkClass} block max-w-80 min-w-32 wrap-anywhere`}>
        {agentName}
      </Link>
    ),
  },
  { header: 'Requests', align: 'right', cell: ({ requests }) => groupDigits(requests) },
  { header: 'Completed', align: 'right', cell: ({ completed }) => groupDigits(completed) },
  { header: 'Failed', align: 'right', cell: ({ failed }) => groupDigits(failed) },
  { header: 'Spent', align: 'right', phone: 'top', cell: ({ spent }) => <Money amount={spent} /> },
];

/** Requests that neither completed nor failed. */
const othersOf = ({ requests, completed, failed }: Day): number => requests - completed - failed;

/** Sums, charts by day, and calls by agent. Bars are drawn from rounded numbers; the sums are exact. */
export function UsageFigures({ usage: { days, agents } }: { usage: Usage }) {
  const theme = useShownTheme();
  const timesMs = days.map(({ date }) => Date.parse(date));
  const sum = sumDays(days);
  const of = (pick: (day: Day) => number) => days.map(pick);
  const period = <span className="text-[13px] text-muted">last {days.length} days, UTC</span>;
  return (
    <>
      <Stats>
        <Stat label="Requests" value={groupDigits(sum.requests)} />
        <Stat label="Completed" value={groupDigits(sum.completed)} />
        <Stat label="Failed" value={groupDigits(sum.failed)} />
        <Stat label="Spent" value={<Money amount={sum.spent} />} />
        <Stat label="Earned" value={<Money amount={sum.earned} />} />
      </Stats>
      <div className="grid gap-5 lg:grid-cols-2">
        <Card title="Requests by day" actions={period}>
          <BarChart
            title="Requests by day"
            theme={theme}
            timesMs={timesMs}
            format={countText}
            series={[
              { label: 'Completed', values: of(({ completed }) => completed), tone: 'accent' },
              ...(days.some((day) => othersOf(day) > 0)
                ? [{ label: 'Cancelled or running', values: of(othersOf), tone: 'muted' as const }]
                : []),
              { label: 'Failed', values: of(({ failed }) => failed), tone: 'bad' },
            ]}
          />
        </Card>
        <Card title="Spent and earned by day, USDC" actions={period}>
          <BarChart
            title="Spent and earned by day"
            theme={theme}
            timesMs={timesMs}
            layout="beside"
            format={usdcText}
            series={[
              { label: 'Spent', values: of(({ spent }) => Number(spent)), tone: 'accent' },
              { label: 'Earned', values: of(({ earned }) => Number(earned)), tone: 'good' },
            ]}
          />
        </Card>
      </div>
      <Card title="By agent" isFlush>
        <DataTable
          label="Usage by agent"
          columns={agentUseColumns}
          rows={agents}
          rowId={({ agentId }) => agentId}
          empty={
            <EmptyState
              title="No agents called in this period"
              command={`curl -H "Authorization: Bearer $AGENT_NETWORK_KEY" '${location.origin}/account/usage?days=${days.length}'`}
            >
              Your calls are totalled here by agent.
            </EmptyState>
          }
        />
      </Card>
    </>
  );
}
