import type { ReactNode } from 'react';

/** What is higher than it should be on the page: scrolls by itself, with the keyboard too. */
export const ScrollBox = ({ label, children }: { label: string; children: ReactNode }) => (
  <section aria-label={label} tabIndex={0} className="max-h-96 overflow-y-auto">
    {children}
  </section>
);
