import { Dialog as Base } from '@base-ui/react/dialog';
import { IconButton } from '../../ui/controls/button.tsx';
import { Brand, SideNav } from './side-nav.tsx';

interface NavDrawerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly label: string;
}

/** The navigation on narrow screens, over the page. */
export const NavDrawer = ({ isOpen, onClose, label }: NavDrawerProps) => (
  <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
    <Base.Portal>
      <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
      <Base.Popup className="fixed inset-y-0 left-0 z-50 flex w-64 max-w-[85vw] flex-col border-r border-line bg-surface">
        <Base.Title className="sr-only">Navigation</Base.Title>
        <div className="flex items-center justify-between pr-2">
          <Brand label={label} />
          <IconButton icon="close" label="Close navigation" onClick={onClose} />
        </div>
        <SideNav onNavigate={onClose} />
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
);
