import type { ReactNode } from 'react';

/** Names and values of one thing, two columns where there is room. */
export const Details = ({ children }: { children: ReactNode }) => (
  <dl className="grid gap-x-8 sm:grid-cols-2">{children}</dl>
);

export const Detail = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="flex min-w-0 items-baseline justify-between gap-4 border-b border-line py-2 last:border-b-0 sm:nth-last-2:border-b-0">
    <dt className="shrink-0 text-muted">{label}</dt>
    <dd className="min-w-0 text-right wrap-anywhere">{children}</dd>
  </div>
);
