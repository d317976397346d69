import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { Copyable } from '../../ui/controls/copyable.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { isSilent, isSlow } from './alarms.ts';

type Process = OperatorStatus['processes'][number];

const delay = (pick: 'p50' | 'p99' | 'max') => (process: Process) => (
  <span className={isSlow(process) ? 'font-medium text-warn' : undefined}>
    <Duration value={process.eventLoopDelayMs?.[pick]} />
  </span>
);

export const processColumns = (asOf: string): readonly Column<Process>[] => [
  {
    id: 'label',
    header: 'Process',
    cell: ({ label, processId, isThis, drainingSince }) => (
      <div className="min-w-32">
        <div className="flex flex-wrap items-center gap-x-2">
          <bdi className="font-medium wrap-anywhere">{label}</bdi>
          {isThis && <Badge tone="accent">serving you</Badge>}
          {drainingSince !== null && <Badge tone="warn">draining</Badge>}
        </div>
        <Copyable label="process id" text={processId} short />
      </div>
    ),
  },
  {
    id: 'seen',
    header: 'Last heartbeat',
    cell: (process) => (
      <span className={isSilent(process, asOf) ? 'font-medium text-bad' : undefined}>
        <TimeAgo at={process.seenAt} />
      </span>
    ),
  },
  { id: 'version', header: 'Version', cell: ({ version }) => <bdi>{version ?? '–'}</bdi> },
  { id: 'started', header: 'Started', cell: ({ startedAt }) => <TimeAgo at={startedAt} /> },
  { id: 'p50', header: 'Loop delay p50', align: 'right', cell: delay('p50') },
  { id: 'p99', header: 'p99', align: 'right', cell: delay('p99') },
  { id: 'max', header: 'Max', align: 'right', cell: delay('max') },
];
