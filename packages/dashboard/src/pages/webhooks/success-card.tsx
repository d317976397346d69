import { useApi } from '../../app/api-query.ts';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart } from '../../ui/chart/chart.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { percentText } from '../../ui/values/percent.ts';
import { deliverySeries } from './delivery-series.ts';

const LOOKED_AT = 100;
const LOOK_MS = 10_000;

const count = (value: number): string => (Number.isInteger(value) ? String(value) : '');

/** Outcomes of the latest delivery attempts over time. Hidden while there are none. */
export function SuccessCard({ webhookId }: { webhookId: string }) {
  const theme = useShownTheme();
  const { data } = useApi(
    'listDeliveries',
    { params: { webhookId }, query: { limit: LOOKED_AT } },
    { refetchIntervalMs: LOOK_MS },
  );
  const { timesMs, taken, refused, successRate } = deliverySeries(data?.deliveries ?? []);
  if (successRate === null) return null;
  return (
    <Card
      title="Success rate"
      actions={
        <span className="text-muted">
          <strong className="text-text">{percentText(successRate)}</strong> of attempts for the latest{' '}
          {data?.deliveries.length === 1 ? 'delivery' : `${data?.deliveries.length} deliveries`}
        </span>
      }
    >
      <BarChart
        title="Delivery attempts"
        timesMs={timesMs}
        series={[
          { label: 'Accepted', tone: 'good', values: taken },
          { label: 'Not accepted', tone: 'bad', values: refused },
        ]}
        format={count}
        heightPx={140}
        theme={theme}
      />
    </Card>
  );
}
