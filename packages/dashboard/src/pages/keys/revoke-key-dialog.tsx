import { useApiMutation } from '../../app/api-query.ts';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import type { ApiKey } from './key.ts';

export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const revoke = useApiMutation('revokeApiKey', {
    invalidates: ['listApiKeys'],
    onSuccess() {
      toast(`Revoked ${apiKey.name}`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Revoke ${apiKey.name}?`}
      action="Revoke key"
      name={apiKey.name}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate({ params: { keyId: apiKey.keyId } })}
    >
      Calls with it are refused immediately and permanently. To replace a key that is in use, roll it instead.
    </ConfirmDialog>
  );
}
