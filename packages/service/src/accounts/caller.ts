import type { Plan } from '@agent-network/contracts/access/access';
import { agentScopes, type Scope } from '@agent-network/contracts/access/scopes';
import type { Help } from '@agent-network/contracts/errors';
import { AppError } from '../lib/app-error.ts';
import type { SessionTimes } from './session.ts';

/** Spending limits of a key for invocations, in micro-USDC; null: no limit. */
export interface SpendingLimits {
  readonly perCallMicro: bigint | null;
  readonly perDayMicro: bigint | null;
  /** The only agents that it may invoke. */
  readonly allowedAgents: readonly string[] | null;
}

/** Session fields of a caller, in addition to those shared with keys. */
export interface SessionFacts extends SessionTimes {
  readonly userAgent: string | null;
  /** Signed in as local mode's own account, without a wallet. */
  readonly isLocal: boolean;
}

/** A caller with an API key or a browser session. */
export interface AccountCaller {
  readonly kind: 'account';
  readonly accountId: string;
  readonly address: string;
  /** Id of the key or the session. */
  readonly keyId: string;
  readonly name: string;
  readonly plan: Plan;
  readonly scopes: readonly Scope[];
  readonly isWalletProven: boolean;
  /** True while the operator suspends the account. */
  readonly isSuspended?: boolean;
  /** Status of the network node that this account's wallet belongs to; null: none that is listed here. */
  readonly node: 'online' | 'offline' | null;
  readonly limits: SpendingLimits;
  /** Id that its spending counts under: its own, or that of the key it replaced. */
  readonly budgetId: string;
  /** null: it used an API key. */
  readonly session: SessionFacts | null;
}

/** An agent with its identityToken: it acts as itself and pays from its own treasury. */
export interface AgentCaller {
  readonly kind: 'agent';
  readonly accountId: string;
  readonly agentId: string;
  readonly plan: Plan;
  readonly isSuspended?: boolean;
  /** Status of the network node of its account; see `AccountCaller`. */
  readonly node: AccountCaller['node'];
}

/** A caller without a key; may read the registry. `address`: network address, the subject of its limits. */
export interface AnonymousCaller {
  readonly kind: 'anonymous';
  readonly address: string;
}

export type KnownCaller = AccountCaller | AgentCaller;
export type Caller = KnownCaller | AnonymousCaller;

/** Throws FORBIDDEN unless the key has the scope. An identityToken has its agent's rights: to invoke, and to read its own money. */
export function requireScope(caller: KnownCaller, scope: Scope): void {
  const allowed = caller.kind === 'agent' ? agentScopes : caller.scopes;
  if (!allowed.includes(scope))
    throw new AppError('FORBIDDEN', `This needs the scope "${scope}".`, { help: helpForScope(scope) });
}

/** The way to get a scope: by signing in with the account's wallet, except for those that only the node's operator gives. */
export const helpForScope = (scope: Scope): Help =>
  scope === 'operator' || scope === 'metrics:read'
    ? { docs: '/docs/conventions#keys' }
    : { page: '/dashboard/keys', docs: '/docs/conventions#keys', command: `agentnet login --wallet --scope ${scope}` };

/** Throws FORBIDDEN for an agent: only keys manage the account. */
export function requireAccount(caller: KnownCaller): AccountCaller {
  if (caller.kind !== 'account')
    throw new AppError('FORBIDDEN', 'An identityToken cannot do this; use an API key.', {
      help: { page: '/dashboard/keys', docs: '/docs/conventions#keys', command: 'agentnet login' },
    });
  return caller;
}
