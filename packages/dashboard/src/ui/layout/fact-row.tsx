import type { ReactNode } from 'react';

/** A name and a value in a `dl`, one below the other in a narrow card. */
export const FactRow = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="flex min-w-0 items-baseline justify-between gap-4 border-b border-line py-1.5 first:pt-0 last:border-b-0 last:pb-0">
    <dt className="shrink-0 text-muted">{label}</dt>
    <dd className="min-w-0 text-right wrap-anywhere">{children}</dd>
  </div>
);
