import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { Menu } from '../../ui/controls/menu.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { RecoverDialog } from './recover-dialog.tsx';
import type { Webhook } from './webhook.ts';
import { EditWebhookForm } from './webhook-form.tsx';

type Doing = 'edit' | 'recover' | 'disable' | 'delete' | null;

interface WebhookActionsProps {
  readonly webhook: Webhook;
  readonly onTested: (deliveryId: string) => void;
}

export function WebhookActions({ webhook, onTested }: WebhookActionsProps) {
  const { webhookId, status } = webhook;
  const [doing, setDoing] = useState<Doing>(null);
  const close = () => setDoing(null);
  const test = useApiMutation('testWebhook', {
    invalidates: ['listDeliveries'],
    onSuccess(delivery) {
      const isTaken = delivery.status === 'delivered';
      toast(isTaken ? 'Test delivered' : 'Test not accepted', isTaken ? 'good' : 'bad');
      onTested(delivery.deliveryId);
    },
  });
  const isEnabled = status === 'enabled';
  return (
    <>
      <Button icon="play" isBusy={test.isPending} onClick={() => test.mutate({ params: { webhookId } })}>
        Send test
      </Button>
      <Button onClick={() => setDoing('edit')}>Edit</Button>
      <Menu
        trigger={<IconButton variant="secondary" icon="more" label="More actions" />}
        items={[
          { label: 'Recover events', icon: 'refresh', isDisabled: !isEnabled, onSelect: () => setDoing('recover') },
          { label: 'Disable', icon: 'stop', isDisabled: !isEnabled, onSelect: () => setDoing('disable') },
          { label: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setDoing('delete') },
        ]}
      />
      {doing === 'edit' && (
        <Dialog isOpen onClose={close} title="Edit endpoint">
          <EditWebhookForm webhook={webhook} onDone={close} />
        </Dialog>
      )}
      {doing === 'recover' && (
        <RecoverDialog webhookId={webhookId} failingSince={webhook.failingSince} onClose={close} />
      )}
      {doing === 'disable' && <DisableDialog webhookId={webhookId} onClose={close} />}
      {doing === 'delete' && <DeleteDialog webhookId={webhookId} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly webhookId: string;
  readonly onClose: () => void;
}

function DisableDialog({ webhookId, onClose }: DialogProps) {
  const disable = useApiMutation('updateWebhook', {
    invalidates: ['listWebhooks', 'listDeliveries'],
    onSuccess: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="Disable this endpoint?"
      action="Disable endpoint"
      isBusy={disable.isPending}
      error={disable.error}
      onConfirm={() => disable.mutate({ params: { webhookId }, body: { status: 'disabled' } })}
    >
      No more events are sent to it, and pending retries are dropped. After re-enabling it, you can recover what it
      missed.
    </ConfirmDialog>
  );
}

function DeleteDialog({ webhookId, onClose }: DialogProps) {
  const navigate = useNavigate();
  const remove = useApiMutation('deleteWebhook', {
    invalidates: ['listWebhooks'],
    onSuccess() {
      toast('Endpoint deleted');
      void navigate({ to: '/webhooks' });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="Delete this endpoint?"
      action="Delete endpoint"
      name="delete"
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { webhookId } })}
    >
      This permanently deletes its secret and its delivery history.
    </ConfirmDialog>
  );
}
