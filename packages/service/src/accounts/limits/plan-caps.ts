import type { PlanCaps } from '../../config/limits.ts';
import { AppError } from '../../lib/app-error.ts';
import type { Tx } from '../../store/sql.ts';
import { countLivingKeys, endOldestSignInKeys, lockAccount, readPlan } from '../account-store.ts';

/** Settings of API keys: maximum of a plan, mode, spending limit of new ones. */
export interface KeySettings {
  readonly planCaps: PlanCaps;
  /** `live`: keys of this node move real money. */
  readonly keyMode: 'live' | 'test';
  /** The limit that a key has for each call when it is created without one. null: none. */
  readonly newKeyPerCallMicro: bigint | null;
}

/**
 * Creates a key of an account in the caller's transaction, unless its valid keys then exceed the plan's maximum. Serialized for each
 * account. Throws CONFLICT.
 */
export async function withinKeyCap<T>(
  ctx: KeySettings,
  tx: Tx,
  { accountId, now }: { accountId: string; now: Date },
  make: () => Promise<T>,
): Promise<T> {
  const plan = await lockAccount(tx, accountId);
  const made = await make();
  const most = ctx.planCaps[plan].keys;
  if ((await countLivingKeys(tx, accountId, now)) > most)
    throw new AppError(
      'CONFLICT',
      `An account of plan "${plan}" has at most ${most} valid API keys; revoke one first.`,
    );
  return made;
}

/** Revokes the oldest keys from sign-ins to make room for one more: they never lock out the holder of the wallet. */
export async function giveWayToSignIn(
  ctx: KeySettings,
  tx: Tx,
  { accountId, now }: { accountId: string; now: Date },
): Promise<void> {
  const plan = await lockAccount(tx, accountId);
  const beyond = (await countLivingKeys(tx, accountId, now)) + 1 - ctx.planCaps[plan].keys;
  if (beyond > 0) await endOldestSignInKeys(tx, accountId, beyond, now);
}

/** Throws CONFLICT when the account is at its plan's maximum number of agents, counted by `countUpTo`. Serialized for each account. */
export async function requireRoomForAgent(
  ctx: KeySettings,
  tx: Tx,
  accountId: string,
  countUpTo: (most: number) => Promise<number>,
): Promise<void> {
  // Without a cap, no lock is needed.
  if (ctx.planCaps[await readPlan(tx, accountId)].agents === null) return;
  const plan = await lockAccount(tx, accountId);
  const most = ctx.planCaps[plan].agents;
  if (most === null || (await countUpTo(most)) < most) return;
  throw new AppError('CONFLICT', `An account of plan "${plan}" has at most ${most} agents; remove one first.`);
}
