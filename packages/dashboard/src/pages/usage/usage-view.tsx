import type { LimitUse } from '@agent-network/contracts/access/access';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Meter } from '../../ui/chart/meter.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { usedText } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { KeysCard } from './keys-card.tsx';
import { periods, readPeriod } from './usage.ts';
import { UsageFigures } from './usage-figures.tsx';

const options = periods.map((value) => ({ value, label: `Last ${value} days` }));

/** Daily use and earnings of the account, by agent, and the rest of its limits and those of its keys. */
export function UsageView() {
  const days = readPeriod(useSearch({ from: '/shell/usage' }).days);
  const navigate = useNavigate({ from: '/usage' });
  const { data, error, refetch } = useApi('getUsage', { query: { days } }, { keepsPrevious: true });
  return (
    <Page
      title="Usage and limits"
      description="Spending on calls, earnings of your agents, and remaining limits."
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
      {!data && <Waiting error={error} onRetry={() => void refetch()} />}
      {data && <UsageFigures usage={data} />}
      <KeysCard />
    </Page>
  );
}

/** The account's use of its limits. */
const LimitsCard = ({ plan, limits }: Pick<DataOf<Api['getUsage']>, 'plan' | 'limits'>) => (
  <Card title="Account limits" actions={<Badge tone="accent">{plan} plan</Badge>}>
    <div className="grid gap-x-8 gap-y-4 sm:grid-cols-3">
      <LimitMeter label="Requests this hour" use={limits.api} />
      <LimitMeter label="Invocations this hour" use={limits.invocations} />
      <LimitMeter label="Free calls this hour" use={limits.freeCalls} />
    </div>
    <p className="mt-4 text-[13px] text-muted">
      All of the account's keys, agents and sessions count together. Requests made by the dashboard are counted
      separately. Free calls are calls to agents that cost nothing; they are also limited per network address.
    </p>
  </Card>
);

/** Used part of a rate limit in the current hour. */
const LimitMeter = ({ label, use: { limit, used, resetAt } }: { label: string; use: LimitUse }) => (
  <Meter
    label={label}
    used={used}
    limit={limit}
    text={usedText(used, limit)}
    hint={
      resetAt !== null && (
        <>
          Resets <TimeAgo at={resetAt} />
        </>
      )
    }
  />
);
