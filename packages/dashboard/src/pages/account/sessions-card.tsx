import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { sessionKey } from '../../app/session.ts';
import { signOut } from '../../app/sign-out.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { browserName } from './browser-name.ts';

type ListedSession = DataOf<Api['listSessions']>['sessions'][number];

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

const sessionColumns = (onEnd: (session: ListedSession) => void): readonly Column<ListedSession>[] => [
  { header: 'Browser', cell: (session) => <Browser session={session} /> },
  { header: 'Signed in', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { header: 'Last seen', cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} /> },
  { header: 'Expires if unused', phone: 'none', cell: (session) => <TimeAgo at={endOf(session)} /> },
  {
    header: 'Actions',
    phone: 'top',
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

/** Somebody signing in is no event. */
const LOOK_MS = 15_000;

/** The account's sessions, to be ended one by one or together. */
export function SessionsCard() {
  const { data, error, refetch } = useApi('listSessions', {}, { refetchIntervalMs: LOOK_MS });
  const [ending, setEnding] = useState<ListedSession | 'all' | null>(null);
  const [columns] = useState(() => sessionColumns(setEnding));
  const close = () => setEnding(null);
  return (
    <Card
      title="Sessions"
      isFlush
      actions={
        <Button size="sm" variant="danger" icon="signOut" onClick={() => setEnding('all')}>
          Sign out everywhere
        </Button>
      }
    >
      <DataTable
        label="Active sessions"
        columns={columns}
        rows={data?.sessions}
        rowId={({ sessionId }) => sessionId}
        error={error}
        onRetry={() => void refetch()}
        empty={<EmptyState title="No active sessions" />}
      />
      {ending === 'all' && <EndAllDialog onClose={close} />}
      {ending !== null && ending !== 'all' && <EndDialog session={ending} onClose={close} />}
    </Card>
  );
}

function EndDialog({ session, onClose }: { session: ListedSession; onClose: () => void }) {
  const { isCurrent, sessionId, userAgent } = session;
  const end = useApiMutation('endSessionById', {
    invalidates: ['listSessions', 'listAudit'],
    onSuccess() {
      toast('Session ended');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={isCurrent ? 'Sign out here?' : 'End this session?'}
      action={isCurrent ? 'Sign out' : 'End session'}
      isBusy={end.isPending}
      error={end.error}
      onConfirm={() => (isCurrent ? void signOut() : end.mutate({ params: { sessionId } }))}
    >
      {browserName(userAgent)} will have to sign in with a wallet again.
    </ConfirmDialog>
  );
}

function EndAllDialog({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const end = useApiMutation('endAllSessions', {
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: sessionKey }),
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="Sign out everywhere?"
      action="Sign out everywhere"
      isBusy={end.isPending || end.isSuccess}
      error={end.error}
      onConfirm={() => end.mutate({})}
    >
      This immediately ends every session of this account, including this one. API keys stay valid.
    </ConfirmDialog>
  );
}
