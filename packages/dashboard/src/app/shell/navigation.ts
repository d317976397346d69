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
}

/** The left navigation, in groups. A view that is built adds its row here and its route in routes.tsx. */
export const navigation: readonly (readonly NavItem[])[] = [
  [
    { to: '/', label: 'Overview', icon: 'home', key: 'o' },
    { to: '/explore', label: 'Explore', icon: 'search', key: 'e' },
    { to: '/agents', label: 'My agents', icon: 'agent', key: 'a' },
  ],
  [{ to: '/invocations', label: 'Invocations', icon: 'bolt', key: 'i' }],
  [
    { to: '/payments', label: 'Payments', icon: 'wallet', key: 'p', scope: 'payments:read' },
    { to: '/usage', label: 'Usage and limits', icon: 'gauge', key: 'u', scope: 'payments:read' },
  ],
  [
    { to: '/keys', label: 'API keys', icon: 'key', key: 'k' },
    { to: '/webhooks', label: 'Webhooks', icon: 'webhook', key: 'w' },
  ],
  [
    { to: '/network', label: 'Network', icon: 'network', key: 'n' },
    { to: '/account', label: 'Account', icon: 'account', key: 'c' },
    { to: '/operator', label: 'Operator', icon: 'operator', key: 'r', scope: 'operator' },
  ],
];

export const navItems: readonly NavItem[] = navigation.flat();
