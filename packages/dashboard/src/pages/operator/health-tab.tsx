import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { useAssetName } from '../../app/chain-name.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { Note } from '../../ui/values/note.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { alarmsOf, isLate, isSilent, isSlow } from './alarms.ts';
import { kindText } from './figures.ts';
import { DatabaseCard, IndexCard } from './status-cards.tsx';

type Queue = OperatorStatus['queues'][number];

/** Counting stops there. */
const MAX_COUNTED = 10_000;

const queueColumns: readonly Column<Queue>[] = [
  { header: 'Work', cell: ({ kind }) => kindText(kind) },
  {
    header: 'Waiting',
    align: 'right',
    cell: ({ depth }) => `${groupDigits(depth)}${depth >= MAX_COUNTED ? ' or more' : ''}`,
  },
  {
    header: 'Oldest',
    align: 'right',
    cell: (queue) => (
      <span className={isLate(queue) ? 'font-medium text-warn' : undefined}>
        <Duration value={queue.oldestS === null ? null : queue.oldestS * 1000} />
      </span>
    ),
  },
];

type Process = OperatorStatus['processes'][number];

const delay = (pick: 'p50' | 'p99' | 'max') => (process: Process) => (
  <span className={isSlow(process) ? 'font-medium text-warn' : undefined}>
    <Duration value={process.eventLoopDelayMs?.[pick]} />
  </span>
);

const processColumns = (asOf: string): readonly Column<Process>[] => [
  {
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
    header: 'Last heartbeat',
    cell: (process) => (
      <span className={isSilent(process, asOf) ? 'font-medium text-bad' : undefined}>
        <TimeAgo at={process.seenAt} />
      </span>
    ),
  },
  { header: 'Version', cell: ({ version }) => <bdi>{version ?? '–'}</bdi> },
  { header: 'Started', cell: ({ startedAt }) => <TimeAgo at={startedAt} /> },
  { header: 'Typical delay', align: 'right', cell: delay('p50') },
  { header: 'Slowest 1%', align: 'right', cell: delay('p99') },
  { header: 'Longest', align: 'right', cell: delay('max') },
];

/** Alarms, processes and waiting work. */
export const HealthTab = ({ status }: { status: OperatorStatus }) => (
  <div className="space-y-5">
    <Alarms status={status} />
    <Card title="Processes" isFlush>
      <DataTable
        label="Processes of the node"
        columns={processColumns(status.asOf)}
        rows={status.processes}
        rowId={({ processId }) => processId}
        empty={<EmptyState title="No process is reporting" />}
      />
    </Card>
    <div className="grid items-start gap-5 lg:grid-cols-[1fr_20rem]">
      <Card title="Waiting work" isFlush>
        <DataTable
          label="Work by kind"
          columns={queueColumns}
          rows={status.queues}
          rowId={({ kind }) => kind}
          empty={<EmptyState title="Nothing is waiting" />}
        />
      </Card>
      <div className="min-w-0 space-y-5">
        <IndexCard index={status.index} />
        <DatabaseCard database={status.database} />
      </div>
    </div>
  </div>
);

function Alarms({ status }: { status: OperatorStatus }) {
  const alarms = alarmsOf(status, useAssetName());
  if (alarms.length === 0) return <Note tone="good">Nothing needs attention.</Note>;
  return (
    <ul aria-label="Alarms" className="space-y-2">
      {alarms.map(({ tone, text }) => (
        <li key={text}>
          <Note tone={tone}>{text}</Note>
        </li>
      ))}
    </ul>
  );
}
