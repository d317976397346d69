import { groupDigits } from '../../ui/values/money.tsx';

export interface FacetItem {
  readonly value: string;
  readonly label: string;
  /** undefined: not counted. */
  readonly count: number | undefined;
}

interface FacetListProps {
  readonly label: string;
  readonly items: readonly FacetItem[];
  readonly chosen: readonly string[];
  readonly onToggle: (value: string) => void;
}

/** Values of a filter, each with how many agents a list with it has. */
export const FacetList = ({ label, items, chosen, onToggle }: FacetListProps) => (
  <ul aria-label={label} className="space-y-px">
    {items.map((item) => (
      <li key={item.value}>
        <button
          type="button"
          aria-pressed={chosen.includes(item.value)}
          onClick={() => onToggle(item.value)}
          className="flex w-full items-center justify-between gap-2 rounded-md px-2 py-1 text-left hover:bg-sunken aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent-text"
        >
          <bdi className="min-w-0 truncate">{item.label}</bdi>
          <span className="text-[13px] text-muted">{item.count === undefined ? '–' : groupDigits(item.count)}</span>
        </button>
      </li>
    ))}
  </ul>
);
