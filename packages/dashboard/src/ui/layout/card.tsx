import { type ReactNode, useId } from 'react';
import { classNames } from '../class-names.ts';

interface CardProps {
  readonly title?: ReactNode;
  /** Shown next to the title. */
  readonly actions?: ReactNode;
  /** For tables: they reach the edges. */
  readonly isFlush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Card({ title, actions, isFlush = false, className, children }: CardProps) {
  const titleId = useId();
  return (
    <section
      aria-labelledby={title ? titleId : undefined}
      className={classNames('min-w-0 rounded-lg border border-line bg-surface shadow-card', className)}
    >
      {title && (
        <header className="flex min-h-12 flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-2">
          <h2 id={titleId} className="font-semibold">
            {title}
          </h2>
          {actions && <div className="flex items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={isFlush ? undefined : 'p-4'}>{children}</div>
    </section>
  );
}
