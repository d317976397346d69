import { type ReactNode, useId } from 'react';

/** Fields with a title, inside of a larger form. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="space-y-4">
      <h2 id={titleId} className="font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}
