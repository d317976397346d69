import type { ReactNode } from 'react';

/** Box of limited height that scrolls by itself, with the keyboard too. */
export const ScrollBox = ({ label, children }: { label: string; children: ReactNode }) => (
  <section aria-label={label} tabIndex={0} className="max-h-96 overflow-y-auto">
    {children}
  </section>
);
