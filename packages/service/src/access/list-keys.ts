import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import { type KeyRow, listApiKeyRows } from './account-store.ts';
import type { AccountCaller } from './caller.ts';
import { toApiKey } from './manage-keys.ts';
import { keySubject } from './rate-limit.ts';
import { readLimitUses, type UsageContext } from './read-limit-use.ts';
import { spentOn } from './spend.ts';

const isLiving = ({ revokedAt, expiresAt }: KeyRow, now: Date): boolean =>
  (revokedAt === null || revokedAt > now) && (expiresAt === null || expiresAt > now);

/** The keys of the account, newest first, and what is used of their limits. */
export async function listApiKeys(ctx: UsageContext, caller: AccountCaller): Promise<DataOf<Api['listApiKeys']>> {
  const now = ctx.clock.now();
  const rows = await listApiKeyRows(ctx.db, caller.accountId);
  const living = rows.filter((row) => isLiving(row, now));
  const budgets = living.flatMap(({ perDayMicro, budgetId }) => (perDayMicro === null ? [] : [budgetId]));
  const [uses, spent] = await Promise.all([
    readLimitUses(
      ctx,
      { ...caller, session: null },
      living.map(({ keyId }) => keySubject(keyId)),
    ),
    spentOn(ctx, budgets, now),
  ]);
  const useOf = new Map(
    living.flatMap(({ keyId, perDayMicro, budgetId }, index) => {
      const use = uses[index];
      const spentToday = perDayMicro === null ? null : formatUsdc(spent.get(budgetId) ?? 0n);
      return use ? [[keyId, { ...use, spentToday }] as const] : [];
    }),
  );
  return { keys: rows.map((row) => ({ ...toApiKey(row), use: useOf.get(row.keyId) ?? null })) };
}
