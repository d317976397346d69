import type { Plan } from '@agent-network/contracts/access/access';
import type { Scope } from '@agent-network/contracts/access/scopes';
import { AppError } from '../../lib/app-error.ts';
import type { SessionTimes } from './session.ts';

/** What a key may spend on invocations, in micro-USDC; null: no such limit. */
export interface SpendingLimits {
  readonly perCallMicro: bigint | null;
  readonly perDayMicro: bigint | null;
  /** The only agents that it may invoke. */
  readonly allowedAgents: readonly string[] | null;
}

/** What a caller's session is known by, beside what it shares with keys. */
export interface SessionFacts extends SessionTimes {
  readonly userAgent: string | null;
  /** Signed in as local mode's own account, without a wallet. */
  readonly isLocal: boolean;
}

/** Someone with an API key, or signed in with a browser. */
export interface AccountCaller {
  readonly kind: 'account';
  readonly accountId: string;
  readonly address: string;
  /** Of the key, or of the session. */
  readonly keyId: string;
  readonly name: string;
  readonly plan: Plan;
  readonly scopes: readonly Scope[];
  readonly isWalletProven: boolean;
  /** How the node of the network stands whose wallet this account is; null: it is of none that is listed here. */
  readonly node: 'online' | 'offline' | null;
  readonly limits: SpendingLimits;
  /** What its spending is counted under: its own id, or that of the key which it replaced. */
  readonly budgetId: string;
  /** null: it came with an API key. */
  readonly session: SessionFacts | null;
}

/** An agent with its identityToken: it acts as itself, and pays from its own treasury. */
export interface AgentCaller {
  readonly kind: 'agent';
  readonly accountId: string;
  readonly agentId: string;
  readonly plan: Plan;
  /** As of its account. */
  readonly node: AccountCaller['node'];
}

/** Someone without a key; may read the registry. `address` is the network address that limits count. */
export interface AnonymousCaller {
  readonly kind: 'anonymous';
  readonly address: string;
}

export type KnownCaller = AccountCaller | AgentCaller;
export type Caller = KnownCaller | AnonymousCaller;

/** Throws FORBIDDEN unless the key has the scope. An identityToken may do what its agent may: call, and see its own money. */
export function requireScope(caller: KnownCaller, scope: Scope): void {
  const allowed: readonly Scope[] = caller.kind === 'agent' ? ['invoke', 'payments:read'] : caller.scopes;
  if (!allowed.includes(scope)) throw new AppError('FORBIDDEN', `This needs the scope "${scope}".`);
}

/** Throws FORBIDDEN for an agent: managing the account is for its keys. */
export function requireAccount(caller: KnownCaller): AccountCaller {
  if (caller.kind !== 'account') throw new AppError('FORBIDDEN', 'An identityToken cannot do this; use an API key.');
  return caller;
}
