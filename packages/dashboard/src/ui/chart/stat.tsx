import type { ReactNode } from 'react';

interface StatProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly hint?: ReactNode;
}

/** A number with its label. Group several in a `Stats`. */
export const Stat = ({ label, value, hint }: StatProps) => (
  <div className="min-w-0 flex-1 basis-36 bg-surface px-4 py-3">
    <dt className="text-[13px] text-muted">{label}</dt>
    <dd className="mt-0.5 truncate text-xl font-semibold tracking-tight">{value}</dd>
    {hint && <dd className="mt-0.5 text-[13px] text-muted">{hint}</dd>}
  </div>
);

export const Stats = ({ children }: { children: ReactNode }) => (
  <dl className="flex flex-wrap gap-px overflow-hidden rounded-lg border border-line bg-line shadow-card">
    {children}
  </dl>
);
