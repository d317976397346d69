import { lazy, Suspense, useEffect, useState } from 'react';

/** Loaded when it is first opened. */
const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })));

interface PaletteHostProps {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
}

/** Opens the palette on Ctrl-K and Cmd-K, also while something is typed elsewhere. */
export function PaletteHost({ isOpen, setOpen }: PaletteHostProps) {
  const [hasOpened, setHasOpened] = useState(false);
  if (isOpen && !hasOpened) setHasOpened(true);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [setOpen]);
  if (!hasOpened) return null;
  return (
    <Suspense fallback={null}>
      <Palette isOpen={isOpen} onClose={() => setOpen(false)} />
    </Suspense>
  );
}
