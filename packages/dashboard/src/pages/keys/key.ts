import type { Scope } from '@agent-network/contracts/access/scopes';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';

export type ApiKey = DataOf<Api['listApiKeys']>['keys'][number];

/** One-line description of each scope. */
export const scopeTexts: Readonly<Record<Scope, string>> = {
  'agents:write': 'Register, change and remove agents',
  invoke: 'Invoke agents and read invocations',
  'payments:read': 'Read balances, statements and usage',
  'payments:write': 'Open and fund treasuries',
  'payments:withdraw': 'Withdraw to a wallet',
  'keys:manage': 'Create and revoke keys and sessions',
  'webhooks:manage': 'Set up webhooks and read events',
  'metrics:read': 'Read the metrics of the node, for Prometheus',
  operator: 'Monitor and manage the node',
};

export type KeyState = 'active' | 'expired' | 'revoked';

export function keyState({ revokedAt, expiresAt }: ApiKey, nowMs: number): KeyState {
  if (revokedAt !== null && Date.parse(revokedAt) <= nowMs) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'active';
}

export const isLiving = (key: ApiKey, nowMs: number): boolean => keyState(key, nowMs) === 'active';

/** "5 per call, 100 per day, 3 agents"; null: there is no limit. */
export function limitsText({ limits }: ApiKey): string | null {
  const { perCall, perDay, allowedAgents } = limits;
  const parts = [
    perCall === null ? null : `${perCall} per call`,
    perDay === null ? null : `${perDay} per day`,
    allowedAgents === null ? null : `${allowedAgents.length} ${allowedAgents.length === 1 ? 'agent' : 'agents'}`,
  ];
  return parts.filter((part) => part !== null).join(', ') || null;
}
