import type { ReactNode } from 'react';
import { CodeBlock } from '../values/code-block.tsx';

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** Command that fills the list. */
  readonly command?: string;
}

export const EmptyState = ({ title, children, command }: EmptyStateProps) => (
  <div className="mx-auto flex max-w-xl flex-col items-center gap-3 px-4 py-12 text-center">
    <p className="font-semibold">{title}</p>
    {children && <div className="text-muted">{children}</div>}
    {command && (
      <div className="w-full text-left">
        <CodeBlock samples={[{ label: 'curl', code: command }]} />
      </div>
    )}
  </div>
);
