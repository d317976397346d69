import type { AgentFacets } from '@agent-network/contracts/agents/agent-figures';
import type { ReactNode } from 'react';
import { Field } from '../../ui/controls/field.tsx';
import { SettledInput } from '../../ui/controls/settled-input.tsx';
import { CapabilityFilter } from './capability-filter.tsx';
import { limits } from './explore-fields.ts';
import type { ExploreSearch } from './explore-params.ts';
import { FacetList } from './facet-list.tsx';

interface FiltersProps {
  readonly search: ExploreSearch;
  readonly facets: AgentFacets | undefined;
  readonly onChange: (change: ExploreSearch) => void;
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title} className="border-b border-line p-3 last:border-b-0">
    <h2 className="mb-1.5 px-2 text-[13px] font-medium text-muted">{title}</h2>
    {children}
  </section>
);

/** Everything that a search filters by, but the words. */
export function Filters({ search, facets, onChange }: FiltersProps) {
  const { status, verified, home } = search;
  const toggle = (name: 'status' | 'verified' | 'home') => (value: string) =>
    onChange({ [name]: search[name] === value ? '' : value });
  const places = (facets?.locations ?? []).map(({ value, nodeId, count }) => ({
    value: nodeId ?? 'this',
    label: nodeId === null ? `${value} (this node)` : value,
    count,
  }));
  const isHomeListed = home === undefined || places.some(({ value }) => value === home);
  return (
    <>
      <Part title="Status">
        <FacetList
          label="Status"
          items={[
            { value: 'online', label: 'Online', count: facets?.status.online },
            { value: 'offline', label: 'Offline', count: facets?.status.offline },
          ]}
          chosen={[status ?? '']}
          onToggle={toggle('status')}
        />
      </Part>
      <Part title="Verification">
        <FacetList
          label="Verification"
          items={[
            { value: 'true', label: 'Verified', count: facets?.verified.yes },
            { value: 'false', label: 'Not verified', count: facets?.verified.no },
          ]}
          chosen={[verified ?? '']}
          onToggle={toggle('verified')}
        />
      </Part>
      <Part title="Capabilities">
        <CapabilityFilter search={search} counts={facets?.capabilities ?? []} onChange={onChange} />
      </Part>
      <Part title="Location">
        <FacetList
          label="Location"
          items={isHomeListed ? places : [...places, { value: home, label: home, count: 0 }]}
          chosen={[home ?? '']}
          onToggle={toggle('home')}
        />
      </Part>
      <Part title="Price and reputation">
        <Limits search={search} onChange={onChange} />
      </Part>
    </>
  );
}

const Limits = ({ search, onChange }: Omit<FiltersProps, 'facets'>) => (
  <div className="space-y-2 px-2">
    {limits.map(({ param, label, placeholder, inputMode, isGood }) => (
      <Field key={param} label={label}>
        <SettledInput
          inputMode={inputMode}
          placeholder={placeholder}
          isGood={isGood}
          value={search[param] ?? ''}
          onChange={(value) => onChange({ [param]: value })}
        />
      </Field>
    ))}
  </div>
);
