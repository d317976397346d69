import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { agentUseColumns } from './agent-use-columns.tsx';
import { KeysCard } from './keys-card.tsx';
import { LimitsCard } from './limits-card.tsx';
import { periods, readPeriod, sumDays } from './usage.ts';
import { UsageCharts } from './usage-charts.tsx';

const options = periods.map((value) => ({ value, label: `Last ${value} days` }));

/** Daily use and earnings of the account, by agent, and the rest of its limits and those of its keys. */
export function UsageView() {
  const days = readPeriod(useSearch({ from: '/shell/usage' }).days);
  const navigate = useNavigate({ from: '/usage' });
  const { data, error, refetch } = useApi('getUsage', { query: { days } }, { keepsPrevious: true });
  const sum = data && sumDays(data.days);
  return (
    <Page
      title="Usage and limits"
      description="What your calls cost, what your agents earned, and the limits that remain."
      actions={
        <Select
          aria-label="Period"
          value={days}
          onChange={(value) => void navigate({ search: { days: value } })}
          options={options}
        />
      }
    >
      {data && <LimitsCard plan={data.plan} limits={data.limits} />}
      {!data && error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-64 w-full" />}
      {data && sum && (
        <>
          <Stats>
            <Stat label="Requests" value={groupDigits(String(sum.requests))} />
            <Stat label="Completed" value={groupDigits(String(sum.completed))} />
            <Stat label="Failed" value={groupDigits(String(sum.failed))} />
            <Stat label="Spent" value={<Money amount={sum.spent} />} />
            <Stat label="Earned" value={<Money amount={sum.earned} />} />
          </Stats>
          <UsageCharts days={data.days} />
          <Card title="By agent" isFlush>
            <DataTable
              label="Usage by agent"
              columns={agentUseColumns}
              rows={data.agents}
              rowId={({ agentId }) => agentId}
              empty={
                <EmptyState
                  title="No agents called in this period"
                  command={`curl -H 'Authorization: Bearer $AGENT_NETWORK_KEY' '${location.origin}/account/usage?days=${days}'`}
                >
                  Your calls are totalled here by agent.
                </EmptyState>
              }
            />
          </Card>
        </>
      )}
      <KeysCard />
    </Page>
  );
}
