import { AgentUpdate } from '@agent-network/contracts/agents/agents';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { isSame } from '../../forms/is-same.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { AgentFields } from './form/agent-fields.tsx';
import { type EditedAgent, problemsOfValues, updateBody, valuesOf } from './form/agent-values.ts';

/** The agent's editable fields, and its removal. */
export function SettingsTab({ agent }: { agent: OwnAgent }) {
  const { data, error, refetch } = useApi('getAgent', { params: { id: agent.id } });
  const [isRemoving, setRemoving] = useState(false);
  return (
    <div className="max-w-3xl space-y-5">
      {data && <EditForm agent={{ detail: data, own: agent }} agentId={agent.id} />}
      {!data && <Waiting error={error} onRetry={() => void refetch()} height="h-96" />}
      <Card title="Remove the agent">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="max-w-lg text-muted">
            It can no longer be found or called, and its identity token stops working. Its treasury stays with the
            account.
          </p>
          <Button variant="danger" icon="trash" onClick={() => setRemoving(true)}>
            Remove agent
          </Button>
        </div>
      </Card>
      {isRemoving && <RemoveAgentDialog agent={agent} onClose={() => setRemoving(false)} />}
    </div>
  );
}

interface EditFormProps {
  readonly agentId: string;
  readonly agent: EditedAgent;
}

/**
 * The agent is read again while it is edited, after saving and when it changes elsewhere. Only the fields changed in the form are sent, so
 * changes made elsewhere are not undone. A form without changes follows the agent.
 */
function EditForm({ agentId, agent }: EditFormProps) {
  const [before, setBefore] = useState(agent);
  const [isSaved, setSaved] = useState(false);
  const update = useApiMutation('updateAgent', { invalidates: ['getAgent', 'getIdentity', 'listOwnAgents'] });
  const form = useForm({
    initial: valuesOf(before),
    schema: AgentUpdate,
    toBody: (values) => updateBody(values, before),
    check: problemsOfValues,
    async onSubmit(body) {
      const { updated } = await update.mutateAsync({ params: { id: agentId }, body });
      toast(`Saved: ${updated.join(', ') || 'no changes'}`);
      setSaved(true);
    },
  });
  const isUnchanged = isSame(form.values, valuesOf(before));
  if (isSaved || (isUnchanged && !isSame(valuesOf(agent), valuesOf(before)))) {
    setSaved(false);
    setBefore(agent);
    form.reset(valuesOf(agent));
  }
  return (
    <form onSubmit={form.submit} noValidate className="space-y-5">
      <AgentFields form={form} endpointHint="A new endpoint must be verified before the agent can be called again." />
      <ErrorNote error={form.failure} />
      {form.error('') && (
        <p role="status" className="text-right text-muted">
          No changes yet.
        </p>
      )}
      <Actions>
        <Button type="submit" variant="primary" isBusy={form.isBusy}>
          Save changes
        </Button>
      </Actions>
    </form>
  );
}

function RemoveAgentDialog({ agent, onClose }: { agent: OwnAgent; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useApiMutation('removeAgent', {
    invalidates: ['listAgents', 'listOwnAgents'],
    onSuccess() {
      toast(`Removed ${agent.name}`);
      // The view of an agent that is gone would say that it is not found.
      return navigate({ to: '/agents' });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Remove ${agent.name}?`}
      action="Remove agent"
      name={agent.name}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { id: agent.id } })}
    >
      This can't be undone. Running calls will finish, and its earnings stay in its treasury.
    </ConfirmDialog>
  );
}
