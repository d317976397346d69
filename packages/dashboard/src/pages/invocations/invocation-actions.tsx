import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { type DetailedRecord, isOpen } from './invocation.ts';
import { RunAgainDialog } from './run-again-dialog.tsx';

/** Actions on an invocation: cancel it while it is open, run it again. */
export function InvocationActions({ record }: { record: DetailedRecord }) {
  const [doing, setDoing] = useState<'cancel' | 'again' | null>(null);
  const close = () => setDoing(null);
  const cancel = useApiMutation('cancelInvocation', {
    invalidates: ['getInvocation', 'listInvocations', 'getBalance'],
    onSuccess({ refund }) {
      toast(`Cancelled, ${refund} USDC refunded`);
      close();
    },
  });
  return (
    <>
      {isOpen(record) && (
        <Button variant="danger" icon="stop" onClick={() => setDoing('cancel')}>
          Cancel
        </Button>
      )}
      <Button icon="refresh" onClick={() => setDoing('again')}>
        Run again
      </Button>
      <ConfirmDialog
        isOpen={doing === 'cancel'}
        onClose={close}
        title="Cancel this invocation?"
        action="Cancel invocation"
        isBusy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate({ params: { requestId: record.requestId } })}
      >
        The agent is told to stop, and you get a refund.
      </ConfirmDialog>
      {doing === 'again' && <RunAgainDialog record={record} onClose={close} />}
    </>
  );
}
