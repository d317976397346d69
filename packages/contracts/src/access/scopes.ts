import { z } from 'zod';

/** Scopes of an API key. Reading the registry needs none. */
export const scopes = [
  'agents:write',
  'invoke',
  'payments:read',
  'payments:write',
  'payments:withdraw',
  'keys:manage',
  'webhooks:manage',
  'metrics:read',
  'operator',
] as const;
export type Scope = (typeof scopes)[number];
export const Scope = z.enum(scopes);

/** Scopes that see the whole node: given by its operator alone, never by an account to itself. */
export const nodeScopes = ['metrics:read', 'operator'] as const satisfies Scope[];

/** Scopes that a wallet gives to a key of its account by signing for them. */
export const OwnScope = Scope.exclude(nodeScopes);
export const ownScopes = OwnScope.options;

/** Rights of an agent's identityToken: it invokes as its agent, and reads its agent's own money. */
export const agentScopes: readonly Scope[] = ['invoke', 'payments:read'];

/** Scopes of a new key by default: no withdrawals, no key management, no operator scope. */
export const defaultScopes = ['agents:write', 'invoke', 'payments:read', 'payments:write'] as const satisfies Scope[];
