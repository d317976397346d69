import type { Overview } from '@agent-network/contracts/invocations/figures';
import { Meter } from '../../ui/chart/meter.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

type Limits = Overview['limits'];
const count = (value: number) => groupDigits(String(value));

const UseMeter = ({ label, use: { used, limit, resetAt } }: { label: string; use: Limits['api'] }) => (
  <Meter
    label={label}
    used={used}
    limit={limit}
    text={`${count(used)} of ${count(limit)}`}
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
export const LimitsCard = ({ limits }: { limits: Limits }) => (
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
