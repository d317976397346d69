import type { Scope } from '@agent-network/contracts/access/scopes';
import { navItems } from '../shell/navigation.ts';

/** Something that the palette leads to. */
export interface PaletteItem {
  /** Unique among all items; a path of the dashboard. */
  readonly to: string;
  readonly label: string;
  /** At the end of the row: a state, or a price. */
  readonly hint?: string;
}

export interface PaletteGroup {
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
export function matches(label: string, search: string): boolean {
  const found = words(label);
  return words(search).every((word) => found.some((each) => each.startsWith(word)));
}

/** Pages and tasks that the session may use and whose names match. */
export function pageGroups(search: string, scopes: readonly Scope[]): readonly PaletteGroup[] {
  const isAllowed = ({ scope }: { readonly scope?: Scope }) => scope === undefined || scopes.includes(scope);
  const chosen = (items: readonly Action[]) => items.filter((item) => isAllowed(item) && matches(item.label, search));
  return [
    { label: 'Pages', items: chosen(navItems) },
    { label: 'Tasks', items: chosen(actions) },
  ];
}
