import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';
import type { ApiKey } from './key.ts';
import { NewKey } from './new-key.tsx';

const overlaps = [
  { value: '0', label: 'No overlap: the old key expires now' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];

/** Makes a key of the same rights; the old one stays good for a while, so that nothing stops. */
export function RollKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const [overlapS, setOverlapS] = useState('86400');
  const roll = useApiMutation('rollApiKey', { invalidates: ['listApiKeys'] });
  if (roll.data)
    return (
      <Dialog isOpen isModalOnly onClose={onClose} title={`${apiKey.name} was rolled`}>
        <NewKey secret={roll.data.apiKey} onDone={onClose}>
          The old key expires at <ExactTime at={roll.data.oldExpiresAt} />.
        </NewKey>
      </Dialog>
    );
  return (
    <Dialog
      isOpen
      // The answer has the secret, which is shown once.
      isModalOnly={roll.isPending}
      onClose={onClose}
      title={`Roll ${apiKey.name}`}
      description="You get a new key with the same scopes, limits and lifetime. Both work during the overlap."
    >
      <Field label="Keep the old key valid for">
        <Select value={overlapS} onChange={setOverlapS} options={overlaps} />
      </Field>
      <div className="mt-4 empty:hidden">
        <ErrorNote error={roll.error} />
      </div>
      <Actions>
        <Button onClick={onClose} disabled={roll.isPending}>
          Cancel
        </Button>
        <Button
          variant="primary"
          isBusy={roll.isPending}
          onClick={() => roll.mutate({ params: { keyId: apiKey.keyId }, body: { overlapS: Number(overlapS) } })}
        >
          Roll key
        </Button>
      </Actions>
    </Dialog>
  );
}
