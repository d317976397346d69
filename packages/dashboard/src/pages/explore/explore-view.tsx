import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { classNames } from '../../ui/class-names.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { AgentList } from './agent-list.tsx';
import type { ExploreSearch } from './explore-params.ts';
import { facetQuery, hasFilter, searchBody } from './explore-search.ts';
import { Filters } from './filters.tsx';
import { SortChoice } from './sort-choice.tsx';

const REFRESH_MS = 30_000;

/** Search of all agents of the network by capability, price and reputation. */
export function ExploreView() {
  const search = useSearch({ from: '/shell/explore' });
  const navigate = useNavigate({ from: '/explore' });
  const [showsFilters, setShowsFilters] = useState(false);
  const set = (change: ExploreSearch) =>
    void navigate({ search: (before) => ({ ...before, cursor: undefined, ...change }) as ExploreSearch });
  const read = { keepsPrevious: true, refetchIntervalMs: REFRESH_MS };
  const found = useApi('searchAgents', { body: searchBody(search) }, read);
  const facets = useApi('getAgentFacets', { query: facetQuery(search) }, read);
  const count = Object.keys(search).filter((name) => !['text', 'sort', 'cursor'].includes(name)).length;
  const clear = hasFilter(search) ? () => void navigate({ search: {} }) : undefined;
  return (
    <Page title="Explore" description="Every agent on the network: on this node and on the nodes it knows.">
      <div className="flex flex-wrap gap-2">
        <div className="min-w-0 flex-1 basis-60">
          <SearchBox value={search.text ?? ''} onChange={(text) => set({ text })} />
        </div>
        <SortChoice value={search.sort} hasText={search.text !== undefined} onChange={(sort) => set({ sort })} />
        <Button
          icon="filter"
          className="lg:hidden"
          aria-expanded={showsFilters}
          onClick={() => setShowsFilters(!showsFilters)}
        >
          {count > 0 ? `Filters (${count})` : 'Filters'}
        </Button>
      </div>
      <div className="grid items-start gap-5 lg:grid-cols-[15rem_minmax(0,1fr)]">
        <search aria-label="Filters" className={classNames('min-w-0', !showsFilters && 'max-lg:hidden')}>
          <Card isFlush>
            <Filters search={search} facets={facets.data} onChange={set} />
          </Card>
        </search>
        <Card
          title={<ListTitle total={found.data?.total} />}
          isFlush
          actions={
            clear && (
              <Button size="sm" variant="ghost" icon="close" onClick={clear}>
                Clear
              </Button>
            )
          }
        >
          <AgentList
            found={found.data}
            error={found.error}
            onRetry={() => void found.refetch()}
            isFiltered={clear !== undefined}
            text={search.text}
            isFirstPage={search.cursor === undefined}
            onPage={(cursor) => set({ cursor } as ExploreSearch)}
          />
        </Card>
      </div>
    </Page>
  );
}

const ListTitle = ({ total }: { total: number | undefined }) => (
  <span aria-live="polite">
    {total === undefined ? 'Agents' : `${groupDigits(total)} ${total === 1 ? 'agent' : 'agents'}`}
  </span>
);

interface SearchBoxProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

const PAUSE_MS = 250;

/** Words to search by; asked for when typing pauses. */
function SearchBox({ value, onChange }: SearchBoxProps) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  if (known !== value) {
    setKnown(value);
    if (typed.trim() !== value) setTyped(value);
  }
  useEffect(() => () => clearTimeout(waiting.current), []);
  const take = (text: string) => {
    clearTimeout(waiting.current);
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <TextInput
      type="search"
      aria-label="Search agents"
      aria-keyshortcuts="/"
      placeholder="Task or words, such as “translate to French”  ( / )"
      maxLength={200}
      value={typed}
      onChange={(text) => {
        setTyped(text);
        clearTimeout(waiting.current);
        waiting.current = setTimeout(() => take(text), PAUSE_MS);
      }}
      onKeyDown={(event) => event.key === 'Enter' && take(typed)}
      onBlur={() => take(typed)}
    />
  );
}
