import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { LAST_TIME_MS } from '@agent-network/contracts/scalars';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import type { HasClock } from '../../lib/clock.ts';
import { type KeyRow, lockApiKeyRow, replaceApiKeyRow } from '../accounts/account-store.ts';
import type { AccountCaller } from '../caller/caller.ts';
import { type Once, unkeyed } from '../idempotency/once.ts';
import { type HasPlanCaps, withinKeyCap } from '../limits/plan-caps.ts';
import { type HasKeyMode, issueApiKey, requireGivable } from './manage-keys.ts';

/**
 * Replaces a key of the account by a new one with the same name, rights and life span; the old one stays valid for `overlapS`, but not
 * beyond its own end. Throws CONFLICT for a key that is dead or was replaced before, and when the overlap exceeds the maximum number of
 * keys.
 */
export async function rollApiKey(
  ctx: HasDb & HasClock & HasKeyMode & HasPlanCaps,
  caller: AccountCaller,
  keyId: string,
  { overlapS }: { overlapS: number },
  once: Once = unkeyed,
): Promise<DataOf<Api['rollApiKey']>> {
  const now = ctx.clock.now();
  const { accountId } = caller;
  const replace = async (tx: Tx) => {
    const old = await lockApiKeyRow(tx, accountId, keyId);
    if (!old) throw notFound('API key');
    requireGivable(caller, old.scopes);
    if (old.replacedBy !== null) throw new AppError('CONFLICT', 'This key was replaced by another already.');
    if (old.revokedAt || (old.expiresAt && old.expiresAt <= now))
      throw new AppError('CONFLICT', 'This key is revoked or has expired; create a new one.');
    const { name, scopes, budgetId, perCallMicro, perDayMicro, allowedAgents } = old;
    const limits = { perCallMicro, perDayMicro, allowedAgents };
    const key = { accountId, name, scopes, expiresAt: sameSpan(old, now), limits, budgetId };
    const made = await issueApiKey({ ...ctx, db: tx }, key);
    const oldExpiresAt = endOfOverlap(old, overlapS, now);
    await replaceApiKeyRow(tx, keyId, made.keyId, oldExpiresAt);
    return { ...made, replaces: keyId, oldExpiresAt: oldExpiresAt.toISOString() };
  };
  const rolled = await ctx.db.transaction(async (tx) =>
    once.keep(tx, await withinKeyCap(ctx, tx, { accountId, now }, () => replace(tx))),
  );
  return rolled;
}

const sameSpan = ({ createdAt, expiresAt }: KeyRow, now: Date): Date | null =>
  expiresAt && new Date(Math.min(LAST_TIME_MS, now.getTime() + expiresAt.getTime() - createdAt.getTime()));

function endOfOverlap({ expiresAt }: KeyRow, overlapS: number, now: Date): Date {
  const end = new Date(now.getTime() + overlapS * 1000);
  return expiresAt && expiresAt < end ? expiresAt : end;
}
