import type { LimitUse } from '@agent-network/contracts/access/access';
import { Meter } from '../../ui/chart/meter.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

/** How much of a limit of calls is used in the hour that runs. */
export const LimitMeter = ({ label, use: { limit, used, resetAt } }: { label: string; use: LimitUse }) => (
  <Meter
    label={label}
    used={used}
    limit={limit}
    text={`${groupDigits(String(used))} of ${groupDigits(String(limit))}`}
    hint={
      resetAt !== null && (
        <>
          begins anew <TimeAgo at={resetAt} />
        </>
      )
    }
  />
);
