import { Button } from '../controls/button.tsx';

interface PaginationProps {
  /** "1,204 invocations". */
  readonly summary?: string;
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
  readonly onFirst: () => void;
  readonly onOlder: () => void;
}

/** Pages by cursor go one way; the browser's Back goes the other. */
export const Pagination = ({ summary, hasNewer, hasOlder, onFirst, onOlder }: PaginationProps) => (
  <nav aria-label="Pages" className="flex flex-wrap items-center justify-between gap-2 border-t border-line px-4 py-2">
    <span className="text-[13px] text-muted">{summary}</span>
    <div className="flex gap-2">
      <Button size="sm" icon="chevronLeft" disabled={!hasNewer} onClick={onFirst}>
        First page
      </Button>
      <Button size="sm" disabled={!hasOlder} onClick={onOlder}>
        Next page
      </Button>
    </div>
  </nav>
);
