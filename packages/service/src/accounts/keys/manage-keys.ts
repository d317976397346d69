import { timingSafeEqual } from 'node:crypto';
import { defaultScopes, type Scope } from '@agent-network/contracts/access/scopes';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import { LAST_TIME_MS } from '@agent-network/contracts/scalars';
import { AppError, invalid, notFound } from '../../lib/app-error.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { removeInSteps } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import {
  findAccount,
  insertApiKey,
  type KeyRow,
  listApiKeyRows,
  lockApiKeyRow,
  replaceApiKeyRow,
  revokeApiKeyRow,
} from '../account-store.ts';
import { listWallets } from '../account-wallet-store.ts';
import { hashSecret, keyStart, newApiKey, parseApiKey } from '../api-key.ts';
import { type AccountCaller, helpForScope, type KnownCaller, type SpendingLimits } from '../caller.ts';
import { type Once, unkeyed } from '../idempotency/once.ts';
import { findApiKeys } from '../limits/access-store.ts';
import { type KeySettings, withinKeyCap } from '../limits/plan-caps.ts';
import { readLimitUse, type UsageContext } from '../limits/read-limit-use.ts';
import { spentOn } from '../limits/spend.ts';
import { canLimit, noLimits, readLimits, toWireLimits } from '../spending-limits.ts';
import { dropDeadKeys } from './dead-key-store.ts';
import { isSession } from './session-caller.ts';

type KeyInput = Parsed<Api['createApiKey']>['body'];

/** Creates a key for the account, with at most the caller's own rights. Throws CONFLICT at the plan's maximum number of keys. */
export async function createApiKey(
  ctx: Store & KeySettings,
  caller: AccountCaller,
  input: KeyInput,
  once: Once = unkeyed,
): Promise<DataOf<Api['createApiKey']>> {
  const scopes = input.scopes ?? defaultScopes.filter((scope) => caller.scopes.includes(scope));
  if (scopes.length === 0)
    throw invalid('scopes', 'must be named: this key has none of those that are given by default');
  requireGivable(caller, scopes);
  const expiresAt = input.expiresAt ? new Date(input.expiresAt) : null;
  const now = ctx.clock.now();
  if (expiresAt && expiresAt <= now) throw invalid('expiresAt', 'is in the past');
  const limits = withNewKeyLimit(ctx, readLimits(input.limits, scopes), { input, scopes });
  const { accountId } = caller;
  const key = { accountId, name: input.name, scopes, expiresAt, limits };
  return ctx.db.transaction(async (tx) => {
    const made = await withinKeyCap(ctx, tx, { accountId, now }, () => issueApiKey({ ...ctx, db: tx }, key));
    return once.keep(tx, made);
  });
}

/** Applies the node's default limit per call, except to keys that could lift it. */
const withNewKeyLimit = (
  { newKeyPerCallMicro }: KeySettings,
  limits: SpendingLimits,
  { input, scopes }: { input: KeyInput; scopes: readonly Scope[] },
): SpendingLimits =>
  input.limits?.perCall === undefined && canLimit(scopes) ? { ...limits, perCallMicro: newKeyPerCallMicro } : limits;

/** `operator` reads metrics too, and so may give a key that reads nothing else. */
const mayGive = ({ scopes }: AccountCaller, scope: Scope): boolean =>
  scopes.includes(scope) || (scope === 'metrics:read' && scopes.includes('operator'));

/** Throws FORBIDDEN for scopes that the caller's own key lacks. */
export function requireGivable(caller: AccountCaller, scopes: readonly Scope[]): void {
  const beyond = scopes.find((scope) => !mayGive(caller, scope));
  if (beyond === 'payments:withdraw' && isSession(caller))
    throw new AppError(
      'FORBIDDEN',
      'A session cannot create a key with the scope "payments:withdraw": sign for one with the wallet (POST /auth/challenge with that scope). A withdrawal needs no key: sign it with POST /payments/withdraw/challenge.',
      { help: helpForScope(beyond) },
    );
  if (beyond)
    throw new AppError('FORBIDDEN', `This key lacks the scope "${beyond}" and cannot give it to another.`, {
      help: helpForScope(beyond),
    });
}

/** Creates a key without checking the requester; for the node's own set-up. */
export async function issueApiKey(
  ctx: Pick<Store, 'clock'> & Pick<KeySettings, 'keyMode'> & { db: Sql },
  key: {
    accountId: string;
    name: string;
    scopes: readonly Scope[];
    expiresAt: Date | null;
    limits?: SpendingLimits;
    /** The budget that it continues. */
    budgetId?: string;
    isFromSignIn?: boolean;
  },
): Promise<DataOf<Api['createApiKey']>> {
  const made = newApiKey(ctx.keyMode);
  const row = await insertApiKey(ctx.db, {
    ...key,
    id: made.id,
    start: keyStart(made.key),
    secretHash: hashSecret(made.key),
    limits: key.limits ?? noLimits,
    budgetId: key.budgetId ?? null,
    isFromSignIn: key.isFromSignIn ?? false,
    now: ctx.clock.now(),
  });
  return { ...toApiKey(row), apiKey: made.key };
}

/** True if this is a valid key of the node. Unlike a call with it, the question counts as no use of the key. */
export async function isValidApiKey({ db, clock }: Store, apiKey: string): Promise<boolean> {
  const id = parseApiKey(apiKey);
  const [row] = id === null ? [] : await findApiKeys(db, [id]);
  if (!row || row.revokedAt || (row.expiresAt && row.expiresAt <= clock.now())) return false;
  return timingSafeEqual(row.secretHash, hashSecret(apiKey));
}

/** Revokes a key of the account. No process takes it any more once this call is answered. */
export async function revokeApiKey(
  ctx: Store,
  caller: AccountCaller,
  keyId: string,
): Promise<DataOf<Api['revokeApiKey']>> {
  if (!(await revokeApiKeyRow(ctx.db, caller.accountId, keyId, ctx.clock.now()))) throw notFound('API key');
  return { keyId, revoked: true };
}

/** Maximum wallets listed for an account. */
const MAX_WALLETS = 100;

export async function readAccount(ctx: Store, caller: KnownCaller): Promise<DataOf<Api['getAccount']>> {
  const account = await findAccount(ctx.db, caller.accountId);
  if (!account) throw notFound('account');
  const { walletProvenAt, suspendedAt, suspendedReason, createdAt, ...rest } = account;
  const wallets = await listWallets(ctx.db, caller.accountId, MAX_WALLETS);
  return {
    ...rest,
    walletProven: walletProvenAt !== null,
    createdAt: createdAt.toISOString(),
    suspension: suspendedAt && { at: suspendedAt.toISOString(), reason: suspendedReason ?? '' },
    wallets: wallets.map(({ address, provenAt }) => ({ address, provenAt: provenAt.toISOString() })),
  };
}

/** A key on the wire. */
export const toApiKey = ({ budgetId: _, perCallMicro, perDayMicro, allowedAgents, ...row }: KeyRow) => ({
  ...row,
  limits: toWireLimits({ perCallMicro, perDayMicro, allowedAgents }),
  createdAt: row.createdAt.toISOString(),
  // Keys that were rolled before ends were bounded may have one beyond.
  expiresAt: row.expiresAt && new Date(Math.min(LAST_TIME_MS, row.expiresAt.getTime())).toISOString(),
  revokedAt: row.revokedAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
});

/**
 * Replaces a key of the account by a new one with the same name, rights and life span; the old one stays valid for `overlapS`, but not
 * beyond its own end. Throws CONFLICT for a key that is dead or was replaced before, and when the overlap exceeds the maximum number of
 * keys.
 */
export async function rollApiKey(
  ctx: Store & KeySettings,
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

const isLiving = ({ revokedAt, expiresAt }: KeyRow, now: Date): boolean =>
  (revokedAt === null || revokedAt > now) && (expiresAt === null || expiresAt > now);

/** The keys of the account, valid ones first, with the use of their limits. */
export async function listApiKeys(
  ctx: UsageContext & KeySettings,
  caller: AccountCaller,
): Promise<DataOf<Api['listApiKeys']>> {
  const now = ctx.clock.now();
  const rows = await listApiKeyRows(ctx.db, caller.accountId, now);
  const living = rows.filter((row) => isLiving(row, now));
  const budgets = living.flatMap(({ perDayMicro, budgetId }) => (perDayMicro === null ? [] : [budgetId]));
  const [limits, spent] = await Promise.all([readLimitUse(ctx, caller), spentOn(ctx, budgets, now)]);
  const useOf = ({ perDayMicro, budgetId }: KeyRow) => ({
    spentToday: perDayMicro === null ? null : formatUsdc(spent.get(budgetId) ?? 0n),
  });
  return {
    keys: rows.map((row) => ({ ...toApiKey(row), use: isLiving(row, now) ? useOf(row) : null })),
    limits,
    mostKeys: ctx.planCaps[caller.plan].keys,
  };
}

/** Time to keep a dead key, equal to the retention of the audit log. */
const KEPT_MS = 400 * DAY_MS;

/** Removes keys 400 days after they expired or were revoked. */
export const forgetDeadKeys = (ctx: Store): Promise<void> =>
  removeInSteps((most) => dropDeadKeys(ctx.db, new Date(ctx.clock.now().getTime() - KEPT_MS), most));
