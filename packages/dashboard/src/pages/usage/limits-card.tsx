import type { Overview } from '@agent-network/contracts/invocations/figures';
import { Card } from '../../ui/layout/card.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { LimitMeter } from './limit-meter.tsx';

/** The account's use of its limits. */
export const LimitsCard = ({ limits }: { limits: Overview['limits'] }) => (
  <Card title="Account limits" actions={<Badge tone="accent">{limits.plan} plan</Badge>}>
    <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
      <LimitMeter label="Requests this hour" use={limits.api} />
      <LimitMeter label="Invocations this hour" use={limits.invocations} />
    </div>
    <p className="mt-4 text-[13px] text-muted">
      All of the account's keys, agents and sessions count together. Requests made by the dashboard are counted
      separately.
    </p>
  </Card>
);
