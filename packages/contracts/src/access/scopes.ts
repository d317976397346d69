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
  'operator',
] as const;
export type Scope = (typeof scopes)[number];
export const Scope = z.enum(scopes);

/** Scopes that a wallet gives to a key of its account by signing for them; the operator's is given by the node alone. */
export const ownScopes = scopes.filter((scope) => scope !== 'operator');
export const OwnScope = Scope.exclude(['operator']);

/** Scopes of a new key by default: no withdrawals, no key management, no operator scope. */
export const defaultScopes = ['agents:write', 'invoke', 'payments:read', 'payments:write'] as const satisfies Scope[];
