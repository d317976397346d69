import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { NumberInput, Textarea } from '../../ui/controls/text-input.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Warning } from '../../ui/values/note.tsx';
import { againText, bodyAgain, maxCostAgain } from './call-samples.ts';
import { type DetailedRecord, isOpen } from './invocation.ts';
import { useRunAgain } from './use-run-again.ts';

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
        The node tells the agent to stop and refunds you.
      </ConfirmDialog>
      {doing === 'again' && <RunAgainDialog record={record} onClose={close} />}
    </>
  );
}

/** Runs the task again with the same agent, paid from the treasury. */
function RunAgainDialog({ record, onClose }: { record: DetailedRecord; onClose: () => void }) {
  const navigate = useNavigate();
  const { invoke, isUncertain } = useRunAgain();
  const form = useForm({
    initial: { task: record.task, maxCost: maxCostAgain(record) },
    schema: InvocationRequest,
    toBody: ({ task, maxCost }) => ({
      ...bodyAgain(record),
      interactive: true,
      task,
      ...(maxCost.trim() ? { maxCost: maxCost.trim() } : {}),
    }),
    async onSubmit(body) {
      const agentId = record.requestedAgentId ?? record.agentId;
      const call = { params: { agentId }, headers: { 'x-payment-method': 'treasury' as const }, body };
      const { requestId } = await invoke.mutateAsync(call);
      onClose();
      await navigate({ to: '/invocations/$requestId', params: { requestId } });
    },
  });
  return (
    <Dialog isOpen onClose={onClose} title="Run again" description={againText(record)}>
      <form onSubmit={form.submit} noValidate className="space-y-4">
        <fieldset disabled={form.isBusy || isUncertain} className="space-y-4">
          <Field label="Task" isRequired error={form.error('task')}>
            <Textarea value={form.values.task} onChange={(task) => form.set('task', task)} rows={6} />
          </Field>
          <Field label="Maximum cost" error={form.error('maxCost')} hint="Leave empty for the agent's price.">
            <NumberInput unit="USDC" value={form.values.maxCost} onChange={(maxCost) => form.set('maxCost', maxCost)} />
          </Field>
        </fieldset>
        <ErrorNote error={form.failure} />
        {isUncertain && (
          <Warning>
            It isn't known whether the call was made. Retrying sends the same call, so nothing is paid twice.
          </Warning>
        )}
        <Actions>
          <Button onClick={onClose}>{isUncertain ? 'Close' : 'Cancel'}</Button>
          <Button type="submit" variant="primary" icon="play" isBusy={form.isBusy}>
            {isUncertain ? 'Retry' : 'Run'}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
