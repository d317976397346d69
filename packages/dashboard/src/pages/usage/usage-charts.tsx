import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart } from '../../ui/chart/chart.tsx';
import { Card } from '../../ui/layout/card.tsx';

type Day = DataOf<Api['getUsage']>['days'][number];

const count = (value: number) => (Number.isInteger(value) ? String(value) : '');
const usdc = (value: number) => `${Number(value.toFixed(6))} USDC`;

/** Calls and money by day. Bars are drawn from rounded numbers; the table beside them has the same. */
export function UsageCharts({ days }: { days: readonly Day[] }) {
  const theme = useShownTheme();
  const timesMs = days.map(({ date }) => Date.parse(date));
  const of = (pick: (day: Day) => number) => days.map(pick);
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card title="Requests by day (UTC)">
        <BarChart
          title="Requests by day"
          theme={theme}
          timesMs={timesMs}
          format={count}
          series={[
            { label: 'Requests', values: of(({ requests }) => requests), tone: 'accent' },
            { label: 'Failed', values: of(({ failed }) => failed), tone: 'bad' },
          ]}
        />
      </Card>
      <Card title="Money by day (UTC)">
        <BarChart
          title="Spent and earned by day"
          theme={theme}
          timesMs={timesMs}
          format={usdc}
          series={[
            { label: 'Spent', values: of(({ spent }) => Number(spent)), tone: 'accent' },
            { label: 'Earned', values: of(({ earned }) => Number(earned)), tone: 'good' },
          ]}
        />
      </Card>
    </div>
  );
}
