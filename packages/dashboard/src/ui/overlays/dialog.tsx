import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { IconButton } from '../controls/button.tsx';

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  /** True if clicks outside and Escape do not close it: for content that is shown once. */
  readonly isModalOnly?: boolean;
  readonly children: ReactNode;
}

/** A dialog above the page. It takes the focus and returns it; Escape closes it. */
export function Dialog({ isOpen, onClose, title, description, isModalOnly = false, children }: DialogProps) {
  return (
    <Base.Root
      open={isOpen}
      disablePointerDismissal={isModalOnly}
      onOpenChange={(open, { reason }) => {
        if (!open && !(isModalOnly && reason === 'escape-key')) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40 transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Viewport className="fixed inset-0 z-50 flex items-start justify-center overflow-y-auto p-3 sm:pt-[10vh]">
          <Base.Popup className="w-full max-w-lg rounded-xl border border-line bg-surface p-5 shadow-xl transition-[opacity,scale] data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0">
            <header className="mb-4 flex items-start justify-between gap-4">
              <div className="min-w-0">
                <Base.Title className="text-lg font-semibold wrap-anywhere">{title}</Base.Title>
                {description && <Base.Description className="mt-1 text-muted">{description}</Base.Description>}
              </div>
              {!isModalOnly && <IconButton icon="close" size="sm" label="Close" onClick={onClose} />}
            </header>
            {children}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

/** The buttons at the end of a dialog or form; the one that does it comes last. */
export const Actions = ({ children }: { children: ReactNode }) => (
  <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>
);
