import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { invalid } from '../../lib/app-error.ts';
import type { Store } from '../../store/database.ts';
import { markCrossedAlerts, saveBalanceAlert } from '../ledger/balance-alert-store.ts';

const AT_ONCE = 20;

/** Sets the limit below which the balance of the account's treasury sends `balance.low`; null: it sends none. */
export async function setBalanceAlert(
  ctx: Store,
  { accountId }: AccountCaller,
  { below }: { readonly below: string | null },
): Promise<{ below: string | null }> {
  const belowMicro = below === null ? null : parseUsdc(below);
  if (belowMicro === 0n) throw invalid('below', 'must be more than zero; null for no event');
  await saveBalanceAlert(ctx.db, accountId, belowMicro);
  return { below: belowMicro === null ? null : formatUsdc(belowMicro) };
}

/** Sends `balance.low` for accounts with a balance below their limit, once until the balance rises again. */
export async function tellLowBalances(ctx: Store): Promise<void> {
  for (let crossed = AT_ONCE; crossed === AT_ONCE; ) {
    crossed = await ctx.db.transaction(async (tx) => {
      const alerts = await markCrossedAlerts(tx, AT_ONCE);
      const events = alerts
        .filter(({ isLow }) => isLow)
        .map(({ accountId, treasuryId, availableMicro, belowMicro }) => {
          const data = { treasuryId, available: formatUsdc(availableMicro), below: formatUsdc(belowMicro) };
          return { type: 'balance.low' as const, accountId, subjectId: treasuryId ?? accountId, data };
        });
      await emit(tx, events, ctx.clock.now());
      return alerts.length;
    });
  }
}
