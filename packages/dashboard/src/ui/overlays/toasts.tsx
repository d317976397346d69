import { useSyncExternalStore } from 'react';
import { Icon } from '../values/icon.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
const SHOWN_MS = 5000;

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows a short message about a completed action. Errors are shown where they occur, in an `ErrorNote`. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  lastId += 1;
  const id = lastId;
  set([...toasts, { id, text, tone }].slice(-3));
  setTimeout(() => set(toasts.filter((each) => each.id !== id)), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div
      role="status"
      className="pointer-events-none fixed print:hidden inset-x-3 bottom-3 z-60 flex flex-col items-end gap-2"
    >
      {shown.map(({ id, text, tone }) => (
        <p
          key={id}
          className="flex max-w-sm items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 wrap-anywhere shadow-lg"
        >
          <Icon
            name={tone === 'good' ? 'check' : 'alert'}
            className={`size-4 ${tone === 'good' ? 'text-good' : 'text-bad'}`}
          />
          {text}
        </p>
      ))}
    </div>
  );
}
