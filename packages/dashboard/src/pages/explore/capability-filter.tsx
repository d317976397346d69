import type { AgentFacets } from '@agent-network/contracts/agents/agent-figures';
import { useState } from 'react';
import { SettledInput } from '../../ui/controls/settled-input.tsx';
import type { ExploreSearch } from './explore-params.ts';
import { listOf, toggled } from './explore-search.ts';
import { FacetList } from './facet-list.tsx';

interface CapabilityFilterProps {
  readonly search: ExploreSearch;
  readonly counts: AgentFacets['capabilities'];
  readonly onChange: (change: ExploreSearch) => void;
}

const SHOWN = 10;
const isCapability = (text: string) => /^[a-z0-9][a-z0-9._-]{0,63}$/i.test(text);

/** Capabilities that agents must have all of, or one of. */
export function CapabilityFilter({ search, counts, onChange }: CapabilityFilterProps) {
  const [showsAll, setShowsAll] = useState(false);
  const isAny = search.any !== undefined;
  const chosen = listOf(isAny ? search.any : search.all);
  const [way, setWay] = useState<'all' | 'any'>(isAny ? 'any' : 'all');
  const set = (list: string, next: 'all' | 'any') =>
    onChange(next === 'any' ? { any: list, all: '' } : { all: list, any: '' });
  const toggle = (value: string) => set(toggled(chosen, value), way);
  const others = chosen.filter((each) => !counts.some(({ value }) => value === each));
  const items = [...others.map((value) => ({ value, count: undefined })), ...counts].map((each) => ({
    ...each,
    label: each.value,
  }));
  const isLong = items.length > SHOWN;
  return (
    <>
      <fieldset className="mb-1.5 flex flex-wrap gap-x-3 px-2 text-[13px]">
        <legend className="sr-only">Match capabilities</legend>
        {(['all', 'any'] as const).map((each) => (
          <label key={each} className="flex items-center gap-1.5">
            <input
              type="radio"
              name="way"
              checked={way === each}
              className="accent-accent"
              onChange={() => {
                setWay(each);
                if (chosen.length > 0) set(chosen.join(','), each);
              }}
            />
            {each === 'all' ? 'Match all' : 'Match any'}
          </label>
        ))}
      </fieldset>
      <FacetList
        label="Capabilities"
        items={showsAll ? items : items.filter(({ value }, at) => at < SHOWN || chosen.includes(value))}
        chosen={chosen}
        onToggle={toggle}
      />
      {isLong && (
        <button
          type="button"
          aria-expanded={showsAll}
          onClick={() => setShowsAll(!showsAll)}
          className="mt-1 rounded-sm px-2 text-[13px] text-accent-text hover:underline"
        >
          {showsAll ? 'Show fewer' : `Show all ${items.length}`}
        </button>
      )}
      <div className="mt-2 px-2">
        <SettledInput
          aria-label="Add a capability"
          placeholder="Add a capability"
          autoCapitalize="off"
          spellCheck={false}
          isGood={isCapability}
          isEmptied
          value=""
          onChange={(value) => chosen.includes(value.toLowerCase()) || toggle(value.toLowerCase())}
        />
      </div>
    </>
  );
}
