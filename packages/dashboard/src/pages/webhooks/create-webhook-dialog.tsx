import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { Secret } from '../../ui/values/secret.tsx';
import { verificationSamples } from './verification-samples.ts';
import { CreateWebhookForm } from './webhook-form.tsx';

/** Asks what the endpoint is to be, then shows its secret and how to believe what comes. */
export function CreateWebhookDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [made, setMade] = useState<{ webhookId: string; secret: string } | null>(null);
  if (!made)
    return (
      <Dialog isOpen onClose={onClose} title="Add an endpoint">
        <CreateWebhookForm onCancel={onClose} onMade={setMade} />
      </Dialog>
    );
  const open = () => void navigate({ to: '/webhooks/$webhookId', params: { webhookId: made.webhookId } });
  return (
    <Dialog isOpen onClose={open} title="Endpoint added" description="Every delivery is signed with this secret.">
      <div className="space-y-4">
        <Secret value={made.secret} label="Signing secret" isShownAgain />
        <CodeBlock label="How to verify a delivery" samples={verificationSamples} />
      </div>
      <Actions>
        <Button variant="primary" onClick={open}>
          Done
        </Button>
      </Actions>
    </Dialog>
  );
}
