import type { LimitUse } from '@agent-network/contracts/access';
import type { Overview } from '@agent-network/contracts/figures';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { TimeAgo } from '../../ui/time-ago.tsx';
import { LimitMeter } from './limit-meter.tsx';

/** What this browser and the other sessions of the account have used of the plan. */
export const LimitsCard = ({ limits }: { limits: Overview['limits'] }) => (
  <Card title="Limits of this session" actions={<Badge tone="accent">{limits.plan}</Badge>}>
    <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
      <Limit title="Requests per hour" use={limits.api} />
      <Limit title="Invocations per hour" use={limits.invocations} />
    </div>
    <p className="mt-4 text-[13px] text-muted">
      Sessions of the account are counted together; each key is counted by itself, below.
    </p>
  </Card>
);

const Limit = ({ title, use }: { title: string; use: LimitUse }) => (
  <div className="min-w-0">
    <div className="flex items-baseline justify-between gap-4">
      <h3 className="font-medium">{title}</h3>
      <span className="text-[13px] text-muted">
        {use.resetAt === null ? (
          'nothing counted'
        ) : (
          <>
            begins anew <TimeAgo at={use.resetAt} />
          </>
        )}
      </span>
    </div>
    <LimitMeter label={title} use={use} />
  </div>
);
