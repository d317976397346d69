import type { AuditEntry } from '@agent-network/contracts/access/audit';
import { Copyable } from '../../ui/controls/copyable.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { auditText, subjectName } from './audit-texts.ts';
import { browserName } from './browser-name.ts';

const Subject = ({ subject }: { subject: AuditEntry['subject'] }) => (
  <div className="space-y-0.5">
    {Object.entries(subject).map(([kind, id]) => (
      <div key={kind} className="flex items-baseline gap-1.5 whitespace-nowrap">
        <span className="text-[13px] text-muted">{subjectName(kind)}</span>
        <Copyable label={`${subjectName(kind)} id`} text={id} short />
      </div>
    ))}
  </div>
);

const Actor = ({ actor, isThis }: { actor: AuditEntry['actor']; isThis: boolean }) =>
  actor.kind === 'session' ? (
    <span className="whitespace-nowrap">{isThis ? <Badge tone="accent">this session</Badge> : 'a session'}</span>
  ) : (
    <span className="block max-w-48 min-w-24 wrap-anywhere">
      key <bdi className="font-medium">{actor.name}</bdi>
    </span>
  );

const From = ({ address, userAgent }: AuditEntry) => (
  <div className="max-w-56 min-w-32">
    <div className="font-mono text-[13px]">{address}</div>
    <bdi className="block truncate text-[13px] text-muted" title={userAgent ?? undefined}>
      {browserName(userAgent)}
    </bdi>
  </div>
);

const Outcome = ({ outcome, code }: AuditEntry) => (
  <div className="flex items-center gap-2 whitespace-nowrap">
    <Status value={outcome} />
    {code && <code className="text-[13px] text-muted">{code}</code>}
  </div>
);

export const auditColumns = (sessionId: string): readonly Column<AuditEntry>[] => [
  {
    id: 'action',
    header: 'Action',
    cell: ({ action }) => (
      <span className="block min-w-40 font-medium" title={action}>
        {auditText(action)}
      </span>
    ),
  },
  { id: 'subject', header: 'Target', cell: ({ subject }) => <Subject subject={subject} /> },
  { id: 'actor', header: 'By', cell: ({ actor }) => <Actor actor={actor} isThis={actor.id === sessionId} /> },
  { id: 'from', header: 'From', cell: (entry) => <From {...entry} /> },
  { id: 'outcome', header: 'Outcome', cell: (entry) => <Outcome {...entry} /> },
  { id: 'at', header: 'When', align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
];
