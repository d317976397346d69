import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';

type Since = '1' | '6' | '24' | '72' | '168' | 'failing' | 'own';

const HOUR_MS = 3_600_000;

interface Chosen {
  readonly since: Since;
  /** Value of a `datetime-local` input: it has no zone, and is in the browser's. */
  readonly own: string;
  readonly failingSince: string | null;
}

/** The time that was chosen, as the API takes it; null: none yet. */
function sinceTime({ since, own, failingSince }: Chosen, nowMs: number): string | null {
  if (since === 'failing') return failingSince;
  const atMs = since === 'own' ? Date.parse(own) : nowMs - Number(since) * HOUR_MS;
  return Number.isNaN(atMs) ? null : new Date(atMs).toISOString();
}

const choices: readonly { value: Since; label: string }[] = [
  { value: '1', label: 'The last hour' },
  { value: '6', label: 'The last 6 hours' },
  { value: '24', label: 'The last 24 hours' },
  { value: '72', label: 'The last 3 days' },
  { value: '168', label: 'The last 7 days' },
  { value: 'own', label: 'Another time' },
];

interface RecoverDialogProps {
  readonly webhookId: string;
  /** Since when nothing has arrived, where that is known. */
  readonly failingSince: string | null;
  readonly onClose: () => void;
}

/** Sends all events since a time again, including those missed while the endpoint was disabled. */
export function RecoverDialog({ webhookId, failingSince, onClose }: RecoverDialogProps) {
  const [since, setSince] = useState<Since>(failingSince === null ? '24' : 'failing');
  const [own, setOwn] = useState('');
  const replay = useApiMutation('replayWebhook', {
    invalidates: ['listDeliveries'],
    onSuccess({ replayed }) {
      toast(replayed === 1 ? '1 event queued to send again' : `${replayed} events queued to send again`);
      onClose();
    },
  });
  const options =
    failingSince === null ? choices : [{ value: 'failing' as const, label: 'Since it started failing' }, ...choices];
  const at = sinceTime({ since, own, failingSince }, Date.now());
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Recover events"
      description="Every event since then is sent again with the same ID, so receivers can ignore the ones they already have. They are sent one after the other; the page counts those still to send."
    >
      <div className="space-y-4">
        <Field label="Events from">
          <Select value={since} onChange={setSince} options={options} />
        </Field>
        {since === 'own' && (
          <Field label="Since">
            <TextInput type="datetime-local" value={own} onChange={setOwn} />
          </Field>
        )}
        <ErrorNote error={replay.error} />
      </div>
      <Actions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          isBusy={replay.isPending}
          disabled={at === null}
          onClick={() => at !== null && replay.mutate({ params: { webhookId }, body: { since: at } })}
        >
          Send again
        </Button>
      </Actions>
    </Dialog>
  );
}
