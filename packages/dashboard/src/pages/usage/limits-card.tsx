import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { Card } from '../../ui/layout/card.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { LimitMeter } from './limit-meter.tsx';

/** The account's use of its limits. */
export const LimitsCard = ({ plan, limits }: Pick<DataOf<Api['getUsage']>, 'plan' | 'limits'>) => (
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
