import type { PlanCaps } from '../../config-limits.ts';
import type { Tx } from '../../db/sql.ts';
import { AppError } from '../../lib/app-error.ts';
import { countLivingKeys, endOldestSignInKeys, lockAccount, readPlan } from '../accounts/account-store.ts';

export interface HasPlanCaps {
  readonly planCaps: PlanCaps;
}

/**
 * Makes a key of an account in the caller's transaction, unless its living keys are then more than its plan allows; those who make
 * keys of one account take turns. Throws CONFLICT.
 */
export async function withinKeyCap<T>(
  ctx: HasPlanCaps,
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
      `An account of plan "${plan}" has at most ${most} API keys that are good; revoke one first.`,
    );
  return made;
}

/** Ends the oldest keys that came from signing in, so that there is room for one more: whoever has the wallet is never kept out by them. */
export async function giveWayToSignIn(
  ctx: HasPlanCaps,
  tx: Tx,
  { accountId, now }: { accountId: string; now: Date },
): Promise<void> {
  const plan = await lockAccount(tx, accountId);
  const beyond = (await countLivingKeys(tx, accountId, now)) + 1 - ctx.planCaps[plan].keys;
  if (beyond > 0) await endOldestSignInKeys(tx, accountId, beyond, now);
}

/** Throws CONFLICT when the plan of the account allows no more agents than `countUpTo` counts. Registrations of one account take turns. */
export async function requireRoomForAgent(
  ctx: HasPlanCaps,
  tx: Tx,
  accountId: string,
  countUpTo: (most: number) => Promise<number>,
): Promise<void> {
  // Where there is no cap, nobody waits for a turn.
  if (ctx.planCaps[await readPlan(tx, accountId)].agents === null) return;
  const plan = await lockAccount(tx, accountId);
  const most = ctx.planCaps[plan].agents;
  if (most === null || (await countUpTo(most)) < most) return;
  throw new AppError('CONFLICT', `An account of plan "${plan}" has at most ${most} agents; remove one first.`);
}
