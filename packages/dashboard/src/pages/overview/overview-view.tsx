import type { Overview } from '@agent-network/contracts/invocations/figures';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { useShownTheme } from '../../app/shell/theme.ts';
import { BarChart, countText, LineChart } from '../../ui/chart/chart.tsx';
import { Meter } from '../../ui/chart/meter.tsx';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable, rowLinkClass } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { groupDigits, Money, usedText } from '../../ui/values/money.tsx';
import { percentText } from '../../ui/values/percent.ts';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { EarningsHint } from '../payments/collect-earnings.tsx';
import { OtherBalances } from '../payments/other-networks.tsx';
import { boundText } from '../payments/spendable.ts';
import { Checklists } from './checklists.tsx';
import {
  callSeries,
  chartPeriod,
  durationSeries,
  type FailureGroup,
  groupFailures,
  moneySeries,
  msText,
  type PeriodId,
  periodOf,
  periods,
  spansToday,
  timesOf,
  usdcText,
} from './overview.ts';

/** Balance, spending, earnings and calls of the account; above them, first steps that are left. */
export function OverviewView() {
  const { days } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  const active = periodOf(days);
  const choose = (id: PeriodId) => void navigate({ search: { days: id }, replace: true });
  return (
    <Page title="Overview">
      <Checklists />
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
  if (!data) return <Waiting error={error} onRetry={() => void refetch()} height="h-96" />;
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

/** Balances: the spendable amount first, then the earnings to collect. */
function BalanceStats() {
  const { data, error, refetch } = useApi('getBalance');
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  const amount = (value: string | undefined) =>
    value === undefined ? <Skeleton className="my-1 h-5 w-24" /> : <Money amount={value} />;
  return (
    <>
      <Stats>
        <Stat label="You can spend" value={amount(data?.spendable.total)} hint={data && boundText(data.spendable)} />
        <Stat label="Earnings to collect" value={amount(data?.earnings)} hint={<EarningsHint balance={data} />} />
        <Stat label="Held" value={amount(data?.held)} hint="for running calls" />
        <Stat label="Pending" value={amount(data?.pending)} hint="unconfirmed deposits" />
      </Stats>
      <OtherBalances balance={data} />
    </>
  );
}

/** Spending, earnings and calls in a period: sums and charts. */
function PeriodFigures({ overview }: { overview: Overview }) {
  const { spent, earned, calls, failed, successRate, p50Ms, p95Ms } = overview;
  const isToday = spansToday(overview);
  const { data: today } = useApi('getOverview', { query: { days: '1' } }, { enabled: isToday });
  const { buckets, days } = (isToday && today) || overview;
  const theme = useShownTheme();
  const timesMs = timesOf(buckets);
  const common = { timesMs, theme, heightPx: 180 };
  const each = chartPeriod(days);
  return (
    <>
      <Stats>
        <Stat label="Spent" value={<Money amount={spent} />} />
        <Stat label="Earned" value={<Money amount={earned} />} />
        <Stat label="Calls" value={groupDigits(calls)} hint={`${groupDigits(failed)} failed`} />
        <Stat label="Success rate" value={percentText(successRate)} />
        <Stat
          label="Typical time"
          value={<Duration value={p50Ms} />}
          hint={
            p95Ms !== null && (
              <>
                95% within <Duration value={p95Ms} />
              </>
            )
          }
        />
      </Stats>
      <div className="grid gap-5 lg:grid-cols-3">
        <Card title={<ChartTitle name="Spent and earned, USDC" period={each} />}>
          <BarChart
            {...common}
            layout="beside"
            title={`Spent and earned, ${each}`}
            series={moneySeries(buckets)}
            format={usdcText}
          />
        </Card>
        <Card title={<ChartTitle name="Calls" period={each} />}>
          <BarChart {...common} title={`Calls, ${each}`} series={callSeries(buckets)} format={countText} />
        </Card>
        <Card title={<ChartTitle name="Time of a call" period={each} />}>
          <LineChart {...common} title={`Time of a call, ${each}`} series={durationSeries(buckets)} format={msText} />
        </Card>
      </div>
    </>
  );
}

const ChartTitle = ({ name, period }: { name: string; period: string }) => (
  <>
    {name} <span className="text-[13px] font-normal text-muted">{period}</span>
  </>
);

/** Calls by others to the account's own agents, in the period. */
const ReceivedCard = ({ received }: { received: Overview['received'] }) => (
  <Card
    title="Calls to your agents"
    actions={
      <Link to="/agents" className={linkClass}>
        My agents
      </Link>
    }
  >
    <dl>
      <FactRow label="Calls">{groupDigits(received.calls)}</FactRow>
      <FactRow label="Failed">{groupDigits(received.failed)}</FactRow>
      <FactRow label="Success rate">{percentText(received.successRate)}</FactRow>
      <FactRow label="Typical time">
        <Duration value={received.p50Ms} />
      </FactRow>
      <FactRow label="Earned">
        <Money amount={received.earned} />
      </FactRow>
    </dl>
  </Card>
);

type Limits = Overview['limits'];
const UseMeter = ({ label, use: { used, limit, resetAt } }: { label: string; use: Limits['api'] }) => (
  <Meter
    label={label}
    used={used}
    limit={limit}
    text={usedText(used, limit)}
    hint={
      resetAt && (
        <>
          Resets <TimeAgo at={resetAt} />
        </>
      )
    }
  />
);

/** Remaining calls of this session in the current hour. */
const LimitsCard = ({ limits }: { limits: Limits }) => (
  <Card title="Limits used" actions={<span className="text-[13px] text-muted">{limits.plan} plan</span>}>
    <div className="space-y-4">
      <UseMeter label="Requests this hour" use={limits.api} />
      <UseMeter label="Invocations this hour" use={limits.invocations} />
      {limits.spending?.perDay && (
        <Meter
          label="Spent today (USDC)"
          used={Number(limits.spending.spentToday)}
          limit={Number(limits.spending.perDay)}
          text={`${groupDigits(limits.spending.spentToday)} of ${groupDigits(limits.spending.perDay)}`}
        />
      )}
    </div>
  </Card>
);

const columns: readonly Column<FailureGroup>[] = [
  {
    header: 'Agent',
    cell: ({ requestId, agentName }) => (
      <Link
        to="/invocations/$requestId"
        params={{ requestId }}
        className={`${rowLinkClass} block max-w-48 min-w-24 truncate`}
      >
        <bdi>{agentName}</bdi>
      </Link>
    ),
  },
  { header: 'Times', align: 'right', cell: ({ count }) => (count === 1 ? '1' : <strong>{count}</strong>) },
  { header: 'Error', cell: ({ code }) => <Badge tone="bad">{code.replaceAll('_', ' ')}</Badge> },
  { header: 'Message', cell: ({ message }) => <span className="block max-w-80 truncate text-muted">{message}</span> },
  { header: 'Last', align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
];

/** The last failed calls of any time; repeats of a failure by the same agent share a row. */
const RecentFailures = ({ failures }: { failures: Overview['recentFailures'] }) => (
  <Card
    title="Recent failures"
    isFlush
    actions={
      <Link to="/invocations" search={{ status: 'failed' }} className={linkClass}>
        View all
      </Link>
    }
  >
    <DataTable
      label="Failed calls"
      columns={columns}
      rows={groupFailures(failures)}
      rowId={({ requestId }) => requestId}
      empty={<EmptyState title="No recent failures" />}
    />
  </Card>
);
