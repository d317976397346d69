import type { AccountCaller, KnownCaller } from './caller.ts';
import { noLimits } from './spending-limits.ts';

/** Stands for an account id until a payment identifies the account. Real ids begin with `acc_`. */
export const KEYLESS = 'keyless';

/** The `Authorization` of clients that cannot leave it out. */
export const KEYLESS_AUTHORIZATION = /^Bearer x402$/i;

/** A caller without an API key who pays from this wallet; null: no payment yet. It may only call agents. */
export const keylessCaller = (wallet: string | null): AccountCaller => ({
  kind: 'account',
  accountId: KEYLESS,
  address: wallet ?? '',
  keyId: KEYLESS,
  name: KEYLESS,
  plan: 'free',
  scopes: ['invoke'],
  isWalletProven: false,
  node: null,
  limits: noLimits,
  budgetId: KEYLESS,
  session: null,
});

/** True for who called without an API key, also once a payment has named the account. */
export const isUnkeyed = (caller: KnownCaller): boolean => caller.kind === 'account' && caller.keyId === KEYLESS;

/** True until a payment has named the account. */
export const isKeyless = ({ accountId }: Pick<KnownCaller, 'accountId'>): boolean => accountId === KEYLESS;

/** True for who called without an API key and pays nothing, in the name of an account that visitors share. */
export const isVisitor = (caller: KnownCaller): boolean =>
  caller.kind === 'account' && isUnkeyed(caller) && !isKeyless(caller) && caller.address === '';
