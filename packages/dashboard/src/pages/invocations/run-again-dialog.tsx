import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { useNavigate } from '@tanstack/react-router';
import { useApiMutation } from '../../app/api-query.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { NumberInput, Textarea } from '../../ui/controls/text-input.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { bodyAgain } from './call-samples.ts';
import type { DetailedRecord } from './invocation.ts';

/** The same task for the same agent once more, paid from the treasury. */
export function RunAgainDialog({ record, onClose }: { record: DetailedRecord; onClose: () => void }) {
  const navigate = useNavigate();
  const invoke = useApiMutation('invokeAgent', {
    invalidates: ['listInvocations', 'getBalance'],
    onSuccess: ({ requestId }) => void navigate({ to: '/invocations/$requestId', params: { requestId } }),
  });
  const form = useForm({
    initial: { task: record.task, maxCost: record.cost ?? '' },
    schema: InvocationRequest,
    toBody: ({ task, maxCost }) => ({
      ...bodyAgain(record),
      task,
      ...(maxCost.trim() ? { maxCost: maxCost.trim() } : {}),
    }),
    async onSubmit(body) {
      const agentId = record.requestedAgentId ?? record.agentId;
      await invoke.mutateAsync({ params: { agentId }, headers: { 'x-payment-method': 'treasury' }, body });
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Run again"
      description="With the same input, paid from the account's treasury."
    >
      <form onSubmit={form.submit} noValidate className="space-y-4">
        <Field label="Task" isRequired error={form.error('task')}>
          <Textarea value={form.values.task} onChange={(task) => form.set('task', task)} rows={6} />
        </Field>
        <Field label="Maximum cost" error={form.error('maxCost')} hint="Leave empty for the agent's price.">
          <NumberInput unit="USDC" value={form.values.maxCost} onChange={(maxCost) => form.set('maxCost', maxCost)} />
        </Field>
        <ErrorNote error={form.failure} />
        <Actions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" icon="play" isBusy={form.isBusy}>
            Run
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
