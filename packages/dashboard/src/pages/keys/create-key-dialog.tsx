import { useState } from 'react';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { CreateKeyForm } from './create-key-form.tsx';
import { NewKey } from './new-key.tsx';

/** Asks what the key is to be, then shows its secret once. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<{ name: string; apiKey: string } | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  return made ? (
    <Dialog isOpen isModalOnly onClose={onClose} title={`${made.name} created`}>
      <NewKey secret={made.apiKey} onDone={onClose} />
    </Dialog>
  ) : (
    <Dialog isOpen isModalOnly={isBusy} onClose={onClose} title="Create an API key">
      <CreateKeyForm onCancel={onClose} onBusy={setIsBusy} onMade={setMade} />
    </Dialog>
  );
}
