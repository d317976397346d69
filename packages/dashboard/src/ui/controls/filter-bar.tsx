import type { ReactNode } from 'react';
import { Button } from './button.tsx';

/** Filters in a row; their values are in the URL. `onClear` is set when a filter is. */
export const FilterBar = ({ children, onClear }: { children: ReactNode; onClear?: (() => void) | undefined }) => (
  <search className="flex flex-wrap items-end gap-2 *:min-w-36 *:max-sm:flex-1">
    {children}
    {onClear && (
      <Button variant="ghost" icon="close" onClick={onClear}>
        Clear
      </Button>
    )}
  </search>
);
