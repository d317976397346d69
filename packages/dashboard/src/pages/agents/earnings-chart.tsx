import { useApi } from '../../app/api-query.ts';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart } from '../../ui/chart/chart.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { callsText, usdcText } from '../overview/overview-series.ts';

/** An agent's earnings and calls by day (UTC), 30 days. Bars are drawn from rounded numbers; the sums are exact. */
export function EarningsCharts({ agentId }: { agentId: string }) {
  const theme = useShownTheme();
  const call = { params: { id: agentId }, query: { days: '30' } } as const;
  const { data, error, refetch } = useApi('getAgentEarnings', call);
  if (!data)
    return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-64 w-full" />;
  const { buckets } = data;
  const common = { theme, heightPx: 180, timesMs: buckets.map(({ from }) => Date.parse(from)) };
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card
        title="Earned by day, less fees"
        actions={
          <span className="text-[13px] text-muted">
            30 days: <Money amount={data.earned} />
          </span>
        }
      >
        <BarChart
          {...common}
          title="Earned by day"
          format={usdcText}
          series={[{ label: 'Earned', tone: 'good', values: buckets.map(({ earned }) => Number(earned)) }]}
        />
      </Card>
      <Card
        title="Calls by day"
        actions={<span className="text-[13px] text-muted">30 days: {groupDigits(String(data.calls))}</span>}
      >
        <BarChart
          {...common}
          title="Calls by day"
          format={callsText}
          series={[
            { label: 'Calls', tone: 'accent', values: buckets.map(({ calls }) => calls) },
            { label: 'Failed', tone: 'bad', values: buckets.map(({ failed }) => failed) },
          ]}
        />
      </Card>
    </div>
  );
}
