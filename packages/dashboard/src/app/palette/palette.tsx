import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../../ui/values/icon.tsx';
import { priceText } from '../../ui/values/money.tsx';
import { useApi } from '../api-query.ts';
import { useSession } from '../session.ts';
import { chooseTheme } from '../shell/theme.ts';
import { signOut } from '../sign-out.ts';
import { useSettled } from '../use-settled.ts';
import { type PaletteGroup, type PaletteItem, pageGroups } from './palette-items.ts';

interface PaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Goes to any page, agent, invocation or section of the documentation by a few words, and does what needs no page. */
export function Palette({ isOpen, onClose }: PaletteProps) {
  const [search, setSearch] = useState('');
  const groups = usePaletteGroups(search, isOpen);
  const router = useRouter();
  const close = () => {
    onClose();
    setSearch('');
  };
  const go = ({ goal }: PaletteItem) => {
    close();
    if (goal === 'sign-out') void signOut();
    else if ('theme' in goal) chooseTheme(goal.theme);
    else if ('docs' in goal) open(goal.docs, '_blank', 'noopener');
    else router.history.push(`/dashboard${goal.to}`);
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Viewport className="fixed inset-0 z-50 flex items-start justify-center p-3 sm:pt-[12vh]">
          <Dialog.Popup
            aria-label="Search everything"
            className="flex max-h-[min(32rem,80dvh)] w-full max-w-xl flex-col overflow-hidden rounded-xl border border-line bg-surface shadow-xl outline-none"
          >
            <Autocomplete.Root
              open
              inline
              items={groups.map(({ label, items }) => ({ value: label, items }))}
              filter={null}
              value={search}
              onValueChange={setSearch}
              itemToStringValue={({ label }: PaletteItem) => label}
              autoHighlight="always"
              keepHighlight
            >
              <div className="flex items-center gap-2 border-b border-line px-3">
                <Icon name="search" className="size-4 text-muted" />
                <Autocomplete.Input
                  dir="auto"
                  aria-label="Search everything"
                  placeholder="Search or do anything: “add funds”, “translate”, “dark”"
                  maxLength={200}
                  className="h-11 w-full bg-transparent outline-none placeholder:text-muted"
                />
              </div>
              <Dialog.Close className="sr-only">Close</Dialog.Close>
              <div className="min-h-0 overflow-y-auto p-1.5">
                <Autocomplete.Empty>
                  <p className="p-3 text-muted">No results.</p>
                </Autocomplete.Empty>
                <Autocomplete.List aria-label="Results">
                  {(group: { value: string; items: PaletteGroup['items'] }) => (
                    <Group key={group.value} label={group.value} items={group.items} onChoose={go} />
                  )}
                </Autocomplete.List>
              </div>
            </Autocomplete.Root>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface GroupProps extends PaletteGroup {
  readonly onChoose: (item: PaletteItem) => void;
}

const Group = ({ label, items, onChoose }: GroupProps) => (
  <Autocomplete.Group items={items}>
    <Autocomplete.GroupLabel className="px-2.5 pt-2 pb-1 text-[13px] text-muted">{label}</Autocomplete.GroupLabel>
    <Autocomplete.Collection>
      {(item: PaletteItem) => (
        <Autocomplete.Item
          key={item.id}
          value={item}
          onClick={() => onChoose(item)}
          className="flex cursor-pointer items-center justify-between gap-3 rounded-md px-2.5 py-1.5 outline-none select-none data-highlighted:bg-accent-soft"
        >
          <bdi className="min-w-0 truncate">{item.label}</bdi>
          {item.hint && <span className="shrink-0 text-[13px] text-muted">{item.hint}</span>}
        </Autocomplete.Item>
      )}
    </Autocomplete.Collection>
  </Autocomplete.Group>
);

const PAUSE_MS = 150;
const SHOWN = 6;

/** The search as a search of agents. */
const exploreItem = (text: string): PaletteItem => ({
  ...{ id: 'explore', label: `Find agents for “${text}”`, hint: 'Explore' },
  goal: { to: `/explore?text=${encodeURIComponent(text)}` },
});

/** Everything that matches: pages at once, agents and invocations as the node finds them. */
function usePaletteGroups(search: string, isOpen: boolean): readonly PaletteGroup[] {
  const { scopes } = useSession();
  const asked = useSettled(search.trim(), PAUSE_MS);
  const isAsked = isOpen && asked !== '';
  const agents = useApi(
    'searchAgents',
    { body: { query: { text: asked }, limit: SHOWN } },
    { enabled: isAsked, keepsPrevious: true },
  );
  const invocations = useApi(
    'listInvocations',
    { query: { limit: SHOWN, ...(asked === '' ? {} : { search: asked }) } },
    { enabled: isOpen && scopes.includes('invoke'), keepsPrevious: true },
  );
  const docs = useDocs(isAsked ? asked : '');
  const found = isAsked ? (agents.data?.agents ?? []) : [];
  return [
    ...pageGroups(search, scopes),
    {
      label: 'Agents',
      items: [
        ...found.map(({ id, name, rates }) => ({
          ...{ id, label: name, goal: { to: `/explore/${id}` } },
          hint: priceText(rates.perRequest),
        })),
        ...(isAsked ? [exploreItem(asked)] : []),
      ],
    },
    {
      label: 'Invocations',
      items: (invocations.data?.requests ?? []).map(({ requestId, task, agentName, status }) => ({
        ...{ id: requestId, label: `${task} · ${agentName}`, goal: { to: `/invocations/${requestId}` } },
        hint: status,
      })),
    },
    { label: 'Documentation', items: docs },
  ].filter(({ items }) => items.length > 0);
}

interface DocsHit {
  /** Address of the section. */
  readonly id: string;
  readonly title: string;
  /** Title of its page. */
  readonly page: string;
}

type DocsSearch = (question: string) => readonly DocsHit[];

/** The scripts of `/docs`, which rank its sections for a question; they are no part of this build. */
const addresses = { engine: '/docs/minisearch.js', search: '/docs/search.js', entries: '/docs/search.json' };

async function loadSearch(): Promise<DocsSearch> {
  const [engine, { createSearch }, answer] = await Promise.all([
    import(/* @vite-ignore */ addresses.engine),
    import(/* @vite-ignore */ addresses.search),
    fetch(addresses.entries),
  ]);
  return createSearch(engine.default, await answer.json()) as DocsSearch;
}

const SHOWN_SECTIONS = 3;

/** Sections of the documentation for a question; none for an empty one. The search is loaded with the first question. */
function useDocs(question: string): readonly PaletteItem[] {
  const { data: search } = useQuery({
    queryKey: ['docs-search'],
    queryFn: loadSearch,
    enabled: question !== '',
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!search || question === '') return [];
  return search(question)
    .slice(0, SHOWN_SECTIONS)
    .map(({ id, title, page }) => ({ id, label: title, hint: page, goal: { docs: id } }));
}
