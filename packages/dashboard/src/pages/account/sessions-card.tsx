import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { sessionKey } from '../../app/session.ts';
import { signOut } from '../../app/sign-out.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { browserName } from './browser-name.ts';
import { type ListedSession, sessionColumns } from './session-columns.tsx';

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
