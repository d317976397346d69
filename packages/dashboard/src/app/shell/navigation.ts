import type { Scope } from '@agent-network/contracts/access/scopes';
import type { IconName } from '../../ui/values/icon.tsx';

export interface NavItem {
  /** A path of routes.tsx. */
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Pressed after `g`. */
  readonly key: string;
  /** Shown only to sessions that have it. */
  readonly scope?: Scope;
  /** Other words by which the palette finds it. */
  readonly words?: string;
}

interface NavGroup {
  /** null: no title. */
  readonly label: string | null;
  readonly items: readonly NavItem[];
}

/** The left navigation, in groups. A view that is built adds its row here and its route in routes.tsx. */
export const navigation: readonly NavGroup[] = [
  { label: null, items: [{ to: '/', label: 'Overview', icon: 'home', key: 'o', words: 'home start dashboard' }] },
  {
    label: 'Agents',
    items: [
      { to: '/explore', label: 'Explore', icon: 'search', key: 'e', words: 'agents find search marketplace' },
      { to: '/agents', label: 'My agents', icon: 'agent', key: 'a', words: 'earnings sell own' },
      {
        to: '/invocations',
        label: 'Invocations',
        icon: 'bolt',
        key: 'i',
        words: 'calls requests runs history results',
      },
    ],
  },
  {
    label: 'Money',
    items: [
      {
        ...{ to: '/payments', label: 'Payments', icon: 'wallet', key: 'p', scope: 'payments:read' },
        words: 'money balance treasury treasuries funds',
      },
      {
        ...{ to: '/usage', label: 'Usage and limits', icon: 'gauge', key: 'u', scope: 'payments:read' },
        words: 'spending quota rate limit statistics',
      },
    ],
  },
  {
    label: 'Access',
    items: [
      { to: '/keys', label: 'API keys', icon: 'key', key: 'k', words: 'tokens credentials secrets' },
      { to: '/webhooks', label: 'Webhooks', icon: 'webhook', key: 'w', words: 'events notifications callbacks' },
      { to: '/account', label: 'Account', icon: 'account', key: 'c', words: 'profile wallet settings' },
    ],
  },
  {
    label: 'Node',
    items: [
      { to: '/network', label: 'Network', icon: 'network', key: 'n', words: 'nodes registry' },
      {
        ...{ to: '/operator', label: 'Operator', icon: 'operator', key: 'r', scope: 'operator' },
        words: 'admin health status accounts',
      },
    ],
  },
];

export const navItems: readonly NavItem[] = navigation.flatMap(({ items }) => items);
