import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { useNavigate } from '@tanstack/react-router';
import { useApiMutation } from '../../app/api-query.ts';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';

export function RemoveAgentDialog({ agent, onClose }: { agent: OwnAgent; onClose: () => void }) {
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
