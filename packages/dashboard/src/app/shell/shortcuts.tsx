import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { navItems } from './navigation.ts';

const SEQUENCE_MS = 1500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const isForOthers = ({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean =>
  ctrlKey || metaKey || altKey || isTyping(target);

/** The first search of the view: an input of the kind search. */
const focusSearch = (): boolean => {
  const input = document.querySelector<HTMLInputElement>('input[type="search"]');
  input?.focus();
  input?.select();
  return input !== null;
};

/** `/` to search, `?` for this list, `g` and a letter to go somewhere. */
export function Shortcuts({ isOpen, setOpen }: { isOpen: boolean; setOpen: (isOpen: boolean) => void }) {
  const navigate = useNavigate();
  const [hasOpened, setHasOpened] = useState(false);
  if (isOpen && !hasOpened) setHasOpened(true);
  useEffect(() => {
    let goingUntilMs = 0;
    const onKey = (event: KeyboardEvent) => {
      if (isForOthers(event)) return;
      const isGoing = event.timeStamp < goingUntilMs;
      goingUntilMs = event.key === 'g' && !isGoing ? event.timeStamp + SEQUENCE_MS : 0;
      const item = isGoing ? navItems.find(({ key }) => key === event.key) : undefined;
      if (item) void navigate({ to: item.to });
      else if (event.key === '?') setOpen(true);
      else if (event.key !== '/' || !focusSearch()) return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, setOpen]);
  if (!hasOpened) return null;
  return (
    <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Keyboard shortcuts">
      <dl className="space-y-1">
        <Shortcut keys={['Ctrl', 'K']} text="Search everything" />
        <Shortcut keys={['/']} text="Search this page" />
        <Shortcut keys={['?']} text="Show keyboard shortcuts" />
        {navItems.map(({ key, label }) => (
          <Shortcut key={key} keys={['g', key]} text={`Go to ${label}`} />
        ))}
      </dl>
    </Dialog>
  );
}

const Shortcut = ({ keys, text }: { keys: readonly string[]; text: string }) => (
  <div className="flex items-center justify-between">
    <dt>{text}</dt>
    <dd className="flex gap-1">
      {keys.map((key) => (
        <kbd
          key={key}
          className="min-w-6 rounded border border-line bg-sunken px-1.5 text-center font-mono text-[13px]"
        >
          {key}
        </kbd>
      ))}
    </dd>
  </div>
);
