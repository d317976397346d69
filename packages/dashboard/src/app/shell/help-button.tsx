import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, buttonClass, IconButton } from '../../ui/controls/button.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { helpOf } from './page-help.ts';

/** Explains the page that is open and leads to its documentation. */
export function HelpButton({ onShowShortcuts }: { onShowShortcuts: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { title, text, section } = helpOf(useLocation().pathname);
  return (
    <>
      <IconButton icon="help" label="Help" onClick={() => setOpen(true)} />
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={`Help: ${title}`}>
        <div className="space-y-2">
          {text.map((each) => (
            <p key={each}>{each}</p>
          ))}
        </div>
        <Actions>
          <Button
            icon="keyboard"
            onClick={() => {
              setOpen(false);
              onShowShortcuts();
            }}
          >
            Shortcuts
          </Button>
          <a href={`/docs#${section}`} target="_blank" rel="noopener" className={buttonClass('primary')}>
            Documentation<span className="sr-only"> (opens in a new tab)</span>
          </a>
        </Actions>
      </Dialog>
    </>
  );
}
