import { type ReactNode, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { Field } from '../controls/field.tsx';
import { TextInput } from '../controls/text-input.tsx';
import { ErrorNote } from '../values/error-note.tsx';
import { Actions, Dialog } from './dialog.tsx';

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  readonly title: string;
  /** Consequences, and which of them can't be undone. */
  readonly children: ReactNode;
  /** Label of the button: "Revoke key". */
  readonly action: string;
  /** Text to type first, for actions that can't be undone. */
  readonly name?: string;
  readonly isBusy?: boolean;
  readonly error?: unknown;
}

/** Asks before something is done that cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, onClose, title } = props;
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <ConfirmForm {...props} />
    </Dialog>
  );
}

/** Normalizes text to what a user can type: a one-line input has no line breaks, and a page shows runs of spaces as one. */
const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

/** Separate from the dialog, so that the typed text is gone when it closes. */
function ConfirmForm({ onClose, onConfirm, children, action, name, isBusy = false, error }: ConfirmDialogProps) {
  const [typed, setTyped] = useState('');
  const isAllowed = name === undefined || plain(typed) === plain(name);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isAllowed && !isBusy) onConfirm();
      }}
    >
      <div className="space-y-4">
        <div className="text-muted">{children}</div>
        {name !== undefined && (
          <Field label={`Type ${name} to confirm`}>
            <TextInput value={typed} onChange={setTyped} autoComplete="off" spellCheck={false} />
          </Field>
        )}
        <ErrorNote error={error} />
      </div>
      <Actions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="danger" isBusy={isBusy} disabled={!isAllowed}>
          {action}
        </Button>
      </Actions>
    </form>
  );
}
