import { type ReactNode, useEffect } from 'react';

interface PageProps {
  readonly title: string;
  /** Picture before the title. */
  readonly picture?: ReactNode;
  /** Shown next to the title: status, id. */
  readonly aside?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** The way up, over the title: a link to the list. */
  readonly up?: ReactNode;
  readonly children: ReactNode;
}

/** A view: its title here and in the browser's tab, its actions, and its content. */
export function Page({ title, picture, aside, description, actions, up, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · agent-network`;
  }, [title]);
  return (
    <div className="mx-auto max-w-7xl space-y-5 px-4 py-5 sm:px-6 lg:py-7">
      <header>
        {up && <div className="mb-1 text-[13px] text-muted">{up}</div>}
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            {picture}
            <h1 dir="auto" className="min-w-0 text-xl font-semibold tracking-tight wrap-anywhere">
              {title}
            </h1>
            {aside}
          </div>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </div>
        {description && <p className="mt-1 max-w-2xl text-muted">{description}</p>}
      </header>
      {children}
    </div>
  );
}
