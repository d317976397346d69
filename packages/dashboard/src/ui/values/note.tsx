import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

const tones = {
  neutral: 'border-line bg-sunken',
  good: 'border-good/40 bg-good-soft',
  warn: 'border-warn/40 bg-warn-soft',
  bad: 'border-bad/40 bg-bad-soft',
} as const;
const iconTones = { neutral: 'text-muted', good: 'text-good', warn: 'text-warn', bad: 'text-bad' } as const;

interface NoteProps {
  readonly tone?: keyof typeof tones;
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** Something that should be known here. An error of a call is an `ErrorNote`. */
export const Note = ({ tone = 'neutral', title, actions, children }: NoteProps) => (
  <div className={`flex flex-wrap items-start gap-x-4 gap-y-2 rounded-md border p-3 ${tones[tone]}`}>
    <div className="flex min-w-0 flex-1 basis-60 gap-3">
      <Icon name={tone === 'good' ? 'check' : 'alert'} className={`mt-0.5 size-4 ${iconTones[tone]}`} />
      <div className="min-w-0 space-y-1 wrap-anywhere">
        {title && <p className="font-semibold">{title}</p>}
        {children && <div>{children}</div>}
      </div>
    </div>
    {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
  </div>
);

/** A sentence of caution inside a form. */
export const Warning = ({ children }: { children: ReactNode }) => (
  <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">{children}</p>
);
