import type { Overview } from '@agent-network/contracts/invocations/figures';
import { useApi } from '../../app/api-query.ts';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart, LineChart } from '../../ui/chart/chart.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { percentText } from '../../ui/values/percent.ts';
import { callSeries, callsText, durationSeries, moneySeries, msText, timesOf, usdcText } from './overview-series.ts';
import { spansToday } from './spans-today.ts';

/** Spending, earnings and calls in a period: sums and charts. */
export function PeriodFigures({ overview }: { overview: Overview }) {
  const { spent, earned, calls, failed, successRate, p50Ms, p95Ms } = overview;
  const isToday = spansToday(overview);
  const { data: today } = useApi('getOverview', { query: { days: '1' } }, { enabled: isToday });
  const { buckets, days } = (isToday && today) || overview;
  const theme = useShownTheme();
  const timesMs = timesOf(buckets);
  const common = { timesMs, theme, heightPx: 180 };
  const each = days === 1 ? 'by hour' : 'by day';
  return (
    <>
      <Stats>
        <Stat label="Spent" value={<Money amount={spent} />} />
        <Stat label="Earned" value={<Money amount={earned} />} />
        <Stat label="Calls" value={groupDigits(String(calls))} hint={`${groupDigits(String(failed))} failed`} />
        <Stat label="Success rate" value={percentText(successRate)} />
        <Stat label="p50" value={<Duration value={p50Ms} />} hint="median" />
        <Stat label="p95" value={<Duration value={p95Ms} />} hint="95th percentile" />
      </Stats>
      <div className="grid gap-5 lg:grid-cols-3">
        <Card title="Spend and earnings, USDC">
          <LineChart {...common} title={`Spend and earnings ${each}`} series={moneySeries(buckets)} format={usdcText} />
        </Card>
        <Card title="Calls">
          <BarChart {...common} title={`Calls ${each}`} series={callSeries(buckets)} format={callsText} />
        </Card>
        <Card title="Duration">
          <LineChart {...common} title={`Duration ${each}`} series={durationSeries(buckets)} format={msText} />
        </Card>
      </div>
    </>
  );
}
