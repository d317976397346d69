import type { LimitUse } from '@agent-network/contracts/access';
import { Meter } from '../../ui/meter.tsx';
import { groupDigits } from '../../ui/money.tsx';

/** How much of a limit of calls is used in the hour that runs. */
export const LimitMeter = ({ label, use: { limit, used } }: { label: string; use: LimitUse }) => (
  <Meter
    label={label}
    value={used}
    max={limit}
    text={`${groupDigits(String(used))} of ${groupDigits(String(limit))}`}
  />
);
