import type { Scope } from '@agent-network/contracts/access/scopes';
import { navItems } from '../shell/navigation.ts';
import type { Theme } from '../shell/theme.ts';

/** Something that the palette leads to or does. */
export interface PaletteItem {
  /** Unique among all items. */
  readonly id: string;
  readonly label: string;
  /** At the end of the row: a state, or a price. */
  readonly hint?: string;
  /** A path of the dashboard, an address of the documentation, which opens in a new tab, or what is done at once. */
  readonly goal: { readonly to: string } | { readonly docs: string } | { readonly theme: Theme } | 'sign-out';
}

export interface PaletteGroup {
  readonly label: string;
  readonly items: readonly PaletteItem[];
}

interface Task extends PaletteItem {
  readonly scope?: Scope;
  /** Other words for it. */
  readonly words: string;
}

const view = (to: string, label: string, words: string, scope?: Scope): Task => ({
  ...{ id: to, label, words, goal: { to } },
  ...(scope ? { scope } : {}),
});

const theme = (label: string, words: string, chosen: Theme): Task => ({
  ...{ id: label, label, goal: { theme: chosen } },
  words: `appearance colours colors mode ${words}`,
});

const money = 'money usdc';

/** Tasks, which begin at a page or are done at once. */
const tasks: readonly Task[] = [
  view('/payments?do=fund', 'Add funds', `${money} deposit top up topup credit pay in fund`, 'payments:write'),
  view('/payments?do=withdraw', 'Withdraw funds', `${money} payout pay out cash transfer send wallet`, 'payments:read'),
  view('/payments?tab=treasuries', 'Collect earnings', `${money} income revenue payout withdraw`, 'payments:read'),
  view(
    '/payments?tab=history',
    'Payment history',
    `${money} transactions statement movements refunds`,
    'payments:read',
  ),
  view('/payments?tab=channels', 'Payment channels', `${money} vouchers deposits close`, 'payments:read'),
  view('/payments?tab=reserves', 'Proof of reserves', `${money} audit solvency trust`, 'payments:read'),
  view('/agents/new', 'Register an agent', 'list add new create publish sell offer service endpoint', 'agents:write'),
  view('/keys?new=true', 'Create an API key', 'new add token secret credentials', 'keys:manage'),
  view('/keys?new=withdrawal', 'Create a withdrawal key', 'new add payout token', 'keys:manage'),
  view('/webhooks?new=true', 'Add a webhook endpoint', 'new create events notifications callback', 'webhooks:manage'),
  view('/invocations?status=failed', 'Failed calls', 'errors problems refunds', 'invoke'),
  view('/account?tab=sessions', 'Sessions', 'devices browsers signed in security'),
  view('/account?tab=audit', 'Audit log', 'history changes security'),
  theme('Use the light theme', 'bright day', 'light'),
  theme('Use the dark theme', 'night', 'dark'),
  theme('Use the theme of the system', 'automatic', 'system'),
  { id: 'sign-out', label: 'Sign out', words: 'log logout signout exit leave end session', goal: 'sign-out' },
];

const pages: readonly Task[] = navItems.map(({ to, label, scope, words = '' }) => view(to, label, words, scope));

const wordsIn = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Fit of a search: 2 if every word begins one of the label, 1 if other words are needed, 0 if a word fits nothing. */
function fit({ label, words }: Pick<Task, 'label' | 'words'>, search: string): 0 | 1 | 2 {
  const asked = wordsIn(search);
  const begins = (known: readonly string[]) => asked.every((word) => known.some((each) => each.startsWith(word)));
  if (begins(wordsIn(label))) return 2;
  return begins([...wordsIn(label), ...wordsIn(words)]) ? 1 : 0;
}

/** Pages and tasks that a session may use and that match the search, by their names first and then by other words. */
export function pageGroups(search: string, scopes: readonly Scope[]): readonly PaletteGroup[] {
  const chosen = (items: readonly Task[]): readonly PaletteItem[] =>
    items
      .filter(({ scope }) => scope === undefined || scopes.includes(scope))
      .map((item) => ({ item, rank: fit(item, search) }))
      .filter(({ rank }) => rank > 0)
      .sort((one, other) => other.rank - one.rank)
      .map(({ item }) => item);
  return [
    { label: 'Pages', items: chosen(pages) },
    { label: 'Tasks', items: chosen(tasks) },
  ];
}
