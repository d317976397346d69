import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { Button } from '../../ui/controls/button.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { browserName } from './browser-name.ts';

export type ListedSession = DataOf<Api['listSessions']>['sessions'][number];

const Browser = ({ session: { userAgent, isCurrent, isLocal } }: { session: ListedSession }) => (
  <div className="flex min-w-40 flex-wrap items-center gap-x-2 gap-y-1">
    <bdi className="font-medium wrap-anywhere" title={userAgent ?? undefined}>
      {browserName(userAgent)}
    </bdi>
    {isCurrent && <Badge tone="accent">this session</Badge>}
    {isLocal && <Badge>local account</Badge>}
  </div>
);

/** The sooner of the two ends. */
const endOf = ({ expiresAt, idleExpiresAt }: ListedSession): string =>
  Date.parse(expiresAt) < Date.parse(idleExpiresAt) ? expiresAt : idleExpiresAt;

export const sessionColumns = (onEnd: (session: ListedSession) => void): readonly Column<ListedSession>[] => [
  { id: 'browser', header: 'Browser', cell: (session) => <Browser session={session} /> },
  { id: 'created', header: 'Signed in', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { id: 'seen', header: 'Last seen', cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} /> },
  { id: 'ends', header: 'Expires if unused', cell: (session) => <TimeAgo at={endOf(session)} /> },
  {
    id: 'actions',
    header: 'Actions',
    hidesHeader: true,
    align: 'right',
    cell: (session) => (
      <Button
        size="sm"
        aria-label={`${session.isCurrent ? 'Sign out' : 'End'}: ${browserName(session.userAgent)}`}
        onClick={() => onEnd(session)}
      >
        {session.isCurrent ? 'Sign out' : 'End'}
      </Button>
    ),
  },
];
