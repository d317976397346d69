import type { AgentSortField } from '@agent-network/contracts/agents/agent-search';
import { IconButton } from '../../ui/controls/button.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { sorts } from './explore-fields.ts';
import { sortOf, sortText } from './explore-search.ts';

type Field = AgentSortField | '';
type Order = 'asc' | 'desc';

interface SortChoiceProps {
  readonly value: string | undefined;
  readonly hasText: boolean;
  readonly onChange: (sort: string) => void;
}

const firstOrder = (field: Field): Order => sorts.find(({ value }) => value === field)?.first ?? 'desc';

/** The order: a field, its direction, and a second field for those that are equal. */
export function SortChoice({ value, hasText, onChange }: SortChoiceProps) {
  const keys = sortOf(value);
  const [first, second] = keys;
  const own = hasText ? 'Best match' : 'Best reputation';
  const set = (at: number, field: Field) => {
    const kept = keys.slice(0, at).filter((key) => key.field !== field);
    onChange(sortText(field === '' ? kept : [...kept, { field, order: firstOrder(field) }, ...keys.slice(at + 1)]));
  };
  const turn = () =>
    first &&
    onChange(sortText([{ field: first.field, order: first.order === 'asc' ? 'desc' : 'asc' }, ...keys.slice(1)]));
  const others = sorts.filter((each) => each.value !== first?.field);
  return (
    <div className="flex min-w-0 items-center gap-1">
      <Select<Field>
        aria-label="Sort by"
        className="min-w-0 flex-1 sm:w-44"
        value={first?.field ?? ''}
        onChange={(field) => set(0, field)}
        options={[{ value: '', label: own }, ...sorts]}
      />
      {first && (
        <>
          <IconButton
            icon={first.order === 'asc' ? 'arrowUp' : 'arrowDown'}
            label={first.order === 'asc' ? 'Lowest first (reverse)' : 'Highest first (reverse)'}
            variant="secondary"
            onClick={turn}
          />
          <Select<Field>
            aria-label="Then by"
            className="min-w-0 flex-1 sm:w-40"
            value={second?.field ?? ''}
            onChange={(field) => set(1, field)}
            options={[
              { value: '', label: 'then by default' },
              ...others.map((each) => ({ ...each, label: `then ${each.label.toLowerCase()}` })),
            ]}
          />
        </>
      )}
    </div>
  );
}
