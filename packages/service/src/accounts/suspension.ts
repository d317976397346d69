import type { EndpointName } from '@agent-network/contracts/api';
import { AppError } from '../lib/app-error.ts';
import type { Sql, Tx } from '../store/sql.ts';
import { findAccount, isSuspended } from './account-store.ts';
import type { Caller } from './caller.ts';

/** Changes that a suspended account still makes: ending things, and getting its money. Reading is always allowed. */
const allowed: ReadonlySet<EndpointName> = new Set<EndpointName>([
  ...(['searchAgents', 'matchAgents', 'cancelInvocation', 'requestWithdrawal', 'withdraw'] as const),
  ...(['revokeApiKey', 'endSession', 'endSessionById', 'endAllSessions', 'removeAgent'] as const),
]);

/** Throws FORBIDDEN for a caller of a suspended account that starts something new. */
export function requireActive(caller: Caller, name: EndpointName, { method }: { readonly method: string }): void {
  if (caller.kind === 'anonymous' || !caller.isSuspended || method === 'GET' || allowed.has(name)) return;
  throw suspended();
}

export const suspended = () =>
  new AppError(
    'FORBIDDEN',
    'The operator of this node has suspended the account. It may read, cancel calls and withdraw; GET /account has the reason.',
    { help: { page: '/dashboard/account', docs: '/docs/conventions#plans' } },
  );

/** True while the operator suspends the account, as of this moment of the transaction. */
export const isAccountSuspended = (tx: Tx, accountId: string): Promise<boolean> => isSuspended(tx, accountId);

export interface Suspension {
  readonly at: Date;
  /** The operator's text. */
  readonly reason: string;
}

/** The suspension of an account, for its owner; null: not suspended. */
export async function suspensionOf(sql: Sql, accountId: string): Promise<Suspension | null> {
  const account = await findAccount(sql, accountId);
  return account?.suspendedAt ? { at: account.suspendedAt, reason: account.suspendedReason ?? '' } : null;
}
