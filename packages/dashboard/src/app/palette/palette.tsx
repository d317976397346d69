import type { Scope } from '@agent-network/contracts/access/scopes';
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../../ui/values/icon.tsx';
import { useApi } from '../api-query.ts';
import { useSession } from '../session.ts';
import { navItems } from '../shell/navigation.ts';
import { useSettled } from '../use-settled.ts';

interface PaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Goes to any page, agent or invocation by a few letters of its name. */
export function Palette({ isOpen, onClose }: PaletteProps) {
  const [search, setSearch] = useState('');
  const groups = usePaletteGroups(search, isOpen);
  const router = useRouter();
  const close = () => {
    onClose();
    setSearch('');
  };
  const go = ({ to }: PaletteItem) => {
    close();
    router.history.push(`/dashboard${to}`);
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
                  aria-label="Search pages, agents and invocations"
                  placeholder="Search pages, agents and invocations"
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
          key={item.to}
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
  const found = isAsked ? (agents.data?.agents ?? []) : [];
  return [
    ...pageGroups(search, scopes),
    {
      label: 'Agents',
      items: found.map(({ id, name, rates }) => ({
        to: `/explore/${id}`,
        label: name,
        hint: `${rates.perRequest} USDC`,
      })),
    },
    {
      label: 'Invocations',
      items: (invocations.data?.requests ?? []).map(({ requestId, task, agentName, status }) => ({
        to: `/invocations/${requestId}`,
        label: `${task} · ${agentName}`,
        hint: status,
      })),
    },
  ].filter(({ items }) => items.length > 0);
}

/** Something that the palette leads to. */
interface PaletteItem {
  /** Unique among all items; a path of the dashboard. */
  readonly to: string;
  readonly label: string;
  /** At the end of the row: a state, or a price. */
  readonly hint?: string;
}

interface PaletteGroup {
  readonly label: string;
  readonly items: readonly PaletteItem[];
}

interface Action extends PaletteItem {
  readonly scope?: Scope;
}

/** Pages that are a task of their own. */
const actions: readonly Action[] = [
  { to: '/agents/new', label: 'Register an agent', scope: 'agents:write' },
  { to: '/keys?new=true', label: 'Create an API key', scope: 'keys:manage' },
  { to: '/webhooks?new=true', label: 'Add a webhook endpoint', scope: 'webhooks:manage' },
  { to: '/payments?tab=history', label: 'Payment history', scope: 'payments:read' },
  { to: '/account?tab=audit', label: 'Audit log' },
];

const words = (text: string): readonly string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Every word of the search begins a word of the label. */
function matches(label: string, search: string): boolean {
  const found = words(label);
  return words(search).every((word) => found.some((each) => each.startsWith(word)));
}

/** Pages and tasks that the session may use and that match the search by name. */
function pageGroups(search: string, scopes: readonly Scope[]): readonly PaletteGroup[] {
  const isAllowed = ({ scope }: { readonly scope?: Scope }) => scope === undefined || scopes.includes(scope);
  const chosen = (items: readonly Action[]) => items.filter((item) => isAllowed(item) && matches(item.label, search));
  return [
    { label: 'Pages', items: chosen(navItems) },
    { label: 'Tasks', items: chosen(actions) },
  ];
}
