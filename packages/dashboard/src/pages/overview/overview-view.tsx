import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { BalanceStats } from './balance-stats.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LimitsCard } from './limits-card.tsx';
import { type PeriodId, periodOf, periods } from './period.ts';
import { PeriodFigures } from './period-figures.tsx';
import { ReceivedCard } from './received-card.tsx';
import { RecentFailures } from './recent-failures.tsx';

/** Balance, spending, earnings and calls of the account; before its first paid call, the steps to it. */
export function OverviewView() {
  const { days } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  const active = periodOf(days);
  const choose = (id: PeriodId) => void navigate({ search: { days: id }, replace: true });
  return (
    <Page title="Overview">
      <FirstSteps />
      <BalanceStats />
      <Tabs
        active={active}
        onChange={choose}
        tabs={periods.map(({ id, label }) => ({ id, label, content: id === active && <Period days={id} /> }))}
      />
    </Page>
  );
}

function Period({ days }: { days: PeriodId }) {
  const { data, error, refetch } = useApi('getOverview', { query: { days } });
  if (!data)
    return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-96 w-full" />;
  return (
    <div className="space-y-5">
      <PeriodFigures overview={data} />
      <div className="grid items-start gap-5 lg:grid-cols-[1fr_20rem]">
        <RecentFailures failures={data.recentFailures} />
        <div className="min-w-0 space-y-5">
          <ReceivedCard received={data.received} />
          <LimitsCard limits={data.limits} />
        </div>
      </div>
    </div>
  );
}
