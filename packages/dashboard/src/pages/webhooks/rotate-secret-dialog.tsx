import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { Secret } from '../../ui/values/secret.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';

/** Makes a new secret; for a day deliveries are signed with both. */
export function RotateSecretDialog({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const rotate = useApiMutation('rotateWebhookSecret');
  if (!rotate.data)
    return (
      <ConfirmDialog
        isOpen
        onClose={onClose}
        title="Rotate the signing secret?"
        action="Rotate secret"
        isBusy={rotate.isPending}
        error={rotate.error}
        onConfirm={() => rotate.mutate({ params: { webhookId } })}
      >
        You get a new secret immediately. For 24 hours, every delivery is signed with both, so your receiver can switch
        without missing any. You can't rotate again until then.
      </ConfirmDialog>
    );
  return (
    <Dialog isOpen isModalOnly onClose={onClose} title="Secret rotated">
      <div className="space-y-4">
        <Secret value={rotate.data.secret} label="New signing secret" isShownAgain />
        <p className="text-muted">
          The old secret works until <ExactTime at={rotate.data.oldValidUntil} />.
        </p>
      </div>
      <Actions>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </Actions>
    </Dialog>
  );
}
