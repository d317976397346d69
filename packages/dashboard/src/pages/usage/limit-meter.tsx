import { type LimitUse, UNLIMITED } from '@agent-network/contracts/access/access';
import { Meter } from '../../ui/chart/meter.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

/** Used part of a rate limit in the current hour. */
export const LimitMeter = ({ label, use: { limit, used, resetAt } }: { label: string; use: LimitUse }) => (
  <Meter
    label={label}
    used={used}
    limit={limit}
    text={`${groupDigits(String(used))} ${limit >= UNLIMITED ? '(no limit)' : `of ${groupDigits(String(limit))}`}`}
    hint={
      resetAt !== null && (
        <>
          Resets <TimeAgo at={resetAt} />
        </>
      )
    }
  />
);
