import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { IconButton } from '../controls/button.tsx';

interface DrawerProps {
  readonly onClose: () => void;
  readonly title: string;
  /** State, next to the title. */
  readonly aside?: ReactNode;
  /** Actions on the shown item; stay visible. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Details of a list item, next to the list: from the right, full width on narrow screens. */
export const Drawer = ({ onClose, title, aside, actions, children }: DrawerProps) => (
  <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
    <Base.Portal>
      <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
      <Base.Popup className="fixed inset-y-0 right-0 z-50 flex w-full max-w-xl flex-col border-l border-line bg-surface shadow-xl outline-none">
        <header className="flex items-start justify-between gap-3 border-b border-line px-4 py-3 sm:px-5">
          <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 pt-0.5">
            <Base.Title className="text-lg font-semibold wrap-anywhere">{title}</Base.Title>
            {aside}
          </div>
          <IconButton icon="close" size="sm" label="Close" onClick={onClose} />
        </header>
        <div className="min-h-0 flex-1 space-y-5 overflow-y-auto p-4 sm:p-5">{children}</div>
        {actions && (
          <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{actions}</footer>
        )}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
);
