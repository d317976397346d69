import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountItem, AccountSort, AccountTotals } from '@agent-network/contracts/network/operator-accounts';
import type { AccountCaller } from '../accounts/caller.ts';
import { type Once, unkeyed } from '../accounts/idempotency/once.ts';
import type { AgentServices } from '../agents/agent-services.ts';
import { holdAgents, releaseAgents } from '../agents/listing/hold-agents.ts';
import { AppError, invalid, notFound } from '../lib/app-error.ts';
import { newId } from '../lib/id.ts';
import { decodeCursor, encodeCursor } from '../lib/page-position.ts';
import type { Store } from '../store/database.ts';
import type { Tx } from '../store/sql.ts';
import {
  type AccountChangeRow,
  type AccountPosition,
  type AccountRow,
  type AccountTotalsRow,
  insertAccountChange,
  listAccountRows,
  lockAccountRow,
  updateAccountRow,
} from './account-status-store.ts';

const PAGE = 50;

/** A page of the node's accounts in an order, the highest first. Throws VALIDATION_ERROR for a cursor of another order. */
export async function listOperatorAccounts(
  ctx: Store,
  { search, plan, suspended, sort = 'newest', limit = PAGE, cursor }: Parsed<Api['listOperatorAccounts']>['query'],
): Promise<DataOf<Api['listOperatorAccounts']>> {
  const isSuspended = suspended === undefined ? null : suspended === 'true';
  const filter = { search: search ?? null, plan: plan ?? null, isSuspended };
  const before = cursor === undefined ? null : readPosition(cursor, sort);
  const rows = await listAccountRows(ctx.db, filter, { sort, before, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const accounts = page.map((row) => ({ ...toItem(row), ...toTotals(row) }));
  const nextCursor = rows.length > limit && last ? encodeCursor(`${sort}.${last.sortedBy}.${last.accountId}`) : null;
  return { accounts, nextCursor };
}

function readPosition(cursor: string, wanted: AccountSort): AccountPosition {
  const [sort, value = '', accountId = ''] = decodeCursor(
    cursor,
    /^([a-zA-Z]{1,20})\.(-?\d{0,18})\.([a-z]{3}_[0-9a-z]{1,40})$/,
  );
  if (sort !== wanted) throw invalid('cursor', 'is of a list in another order');
  return { value, accountId };
}

export const toTotals = (row: AccountTotalsRow): AccountTotals => ({
  calls: Number(row.calls),
  spent: formatUsdc(row.spentMicro),
  earned: formatUsdc(row.earnedMicro),
  available: formatUsdc(row.availableMicro),
  lastSeenAt: row.seenAt.toISOString(),
});

export const toItem = (row: AccountRow): AccountItem => ({
  accountId: row.accountId,
  address: row.address,
  plan: row.plan,
  suspension: row.suspendedAt && { at: row.suspendedAt.toISOString(), reason: row.suspendedReason ?? '' },
  createdAt: row.createdAt.toISOString(),
});

type ChangeContext = Store & AgentServices & { readonly nodeLabel: string };
type Change = Pick<AccountChangeRow, 'kind' | 'plan' | 'reason'>;

/** Sets the plan of an account. Its limits apply from the next call on; existing things above them stay. */
export const setAccountPlan = (
  ctx: ChangeContext,
  caller: AccountCaller,
  accountId: string,
  { plan, reason }: Parsed<Api['setAccountPlan']>['body'],
  once: Once = unkeyed,
): Promise<AccountItem> =>
  changeAccount(ctx, caller, accountId, once, async (_tx, row) =>
    row.plan === plan ? null : { row: { ...row, plan }, change: { kind: 'plan', plan, reason } },
  );

/**
 * Suspends an account: its callers start nothing new, and its agents are offline. Calls that were accepted before run to their end. Its
 * money stays its own: it may withdraw. Throws CONFLICT for the operator's own account.
 */
export function suspendAccount(
  ctx: ChangeContext,
  caller: AccountCaller,
  accountId: string,
  { reason }: { readonly reason: string },
  once: Once = unkeyed,
): Promise<AccountItem> {
  if (accountId === caller.accountId) throw new AppError('CONFLICT', "You can't suspend your own account.");
  return changeAccount(ctx, caller, accountId, once, async (tx, row, now) => {
    if (row.suspendedAt) return null;
    const after = { ...row, suspendedAt: now, suspendedReason: reason };
    // Before its agents: a health check that ends meanwhile either waits for them or finds the account suspended.
    await updateAccountRow(tx, after);
    await holdAgents(ctx, tx, accountId, now);
    return { row: after, change: { kind: 'suspended', plan: null, reason } };
  });
}

/** Ends a suspension: the account may call again, and its agents are checked at once and come online as they answer. */
export async function resumeAccount(
  ctx: ChangeContext,
  caller: AccountCaller,
  accountId: string,
  { reason }: { readonly reason: string },
  once: Once = unkeyed,
): Promise<AccountItem> {
  const item = await changeAccount(ctx, caller, accountId, once, async (tx, row, now) => {
    if (!row.suspendedAt) return null;
    await releaseAgents(tx, accountId, now);
    const after = { ...row, suspendedAt: null, suspendedReason: null };
    return { row: after, change: { kind: 'resumed', plan: null, reason } };
  });
  ctx.agentChecks.requestRun();
  return item;
}

/** Commits together: the account, the effects of the change, and the record of the operator. A change to the present state does nothing. */
function changeAccount(
  ctx: ChangeContext,
  caller: AccountCaller,
  accountId: string,
  once: Once,
  decide: (tx: Tx, row: AccountRow, now: Date) => Promise<{ row: AccountRow; change: Change } | null>,
): Promise<AccountItem> {
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const row = await lockAccountRow(tx, accountId);
    if (!row) throw notFound('account');
    const decided = await decide(tx, row, now);
    if (!decided) return once.keep(tx, toItem(row));
    await updateAccountRow(tx, decided.row);
    const actor = { actorAccountId: caller.accountId, actorId: caller.keyId };
    await insertAccountChange(tx, { ...decided.change, ...actor, id: newId('chg'), accountId, at: now });
    return once.keep(tx, toItem(decided.row));
  });
}
