import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import { type KeyRow, listApiKeyRows } from '../accounts/account-store.ts';
import type { AccountCaller } from '../caller/caller.ts';
import type { HasPlanCaps } from '../limits/plan-caps.ts';
import { readLimitUse, type UsageContext } from '../limits/read-limit-use.ts';
import { spentOn } from '../limits/spend.ts';
import { toApiKey } from './manage-keys.ts';

const isLiving = ({ revokedAt, expiresAt }: KeyRow, now: Date): boolean =>
  (revokedAt === null || revokedAt > now) && (expiresAt === null || expiresAt > now);

/** The keys of the account, valid ones first, with the use of their limits. */
export async function listApiKeys(
  ctx: UsageContext & HasPlanCaps,
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
