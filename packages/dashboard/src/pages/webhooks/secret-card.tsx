import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Secret } from '../../ui/values/secret.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';

/** The secret that signs deliveries: shown on request, which the audit log records. */
export function SecretCard({ webhookId }: { webhookId: string }) {
  const reveal = useApiMutation('getWebhookSecret');
  const [isRotating, setIsRotating] = useState(false);
  return (
    <Card
      title="Signing secret"
      actions={
        <>
          {reveal.data && (
            <Button size="sm" onClick={() => reveal.reset()}>
              Hide
            </Button>
          )}
          <Button size="sm" icon="refresh" onClick={() => setIsRotating(true)}>
            Rotate
          </Button>
        </>
      }
    >
      {reveal.data ? (
        <Secret value={reveal.data.secret} label="Signing secret" isShownAgain />
      ) : (
        <div className="flex flex-wrap items-center gap-3">
          <span className="font-mono text-muted" aria-hidden="true">
            whsec_••••••••••••
          </span>
          <Button isBusy={reveal.isPending} onClick={() => reveal.mutate({ params: { webhookId } })}>
            Reveal
          </Button>
        </div>
      )}
      <div className="mt-3 empty:hidden">
        <ErrorNote error={reveal.error} />
      </div>
      <p className="mt-3 text-[13px] text-muted">
        Revealing it is recorded in the audit log. After a rotation, the old secret works for 24 hours.
      </p>
      {isRotating && (
        <RotateSecretDialog
          webhookId={webhookId}
          onClose={() => {
            reveal.reset();
            setIsRotating(false);
          }}
        />
      )}
    </Card>
  );
}

/** Makes a new secret; for a day deliveries are signed with both. */
function RotateSecretDialog({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
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
