import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { invalid } from '../../lib/app-error.ts';
import type { Store } from '../../store/database.ts';
import { judgeAlerts, markCrossedAlerts, saveBalanceAlert } from '../ledger/balance-alert-store.ts';

/** Alerts of one turn. */
const TURN = 1000;
/** Events of one transaction. */
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

/**
 * Returns work that judges the next thousand alerts, from the first again after the last, and sends `balance.low` for accounts with a balance
 * below their limit, once until the balance rises again.
 */
export function createLowBalanceWatch(ctx: Store, turn = TURN): () => Promise<void> {
  let after = '';
  return async () => {
    const { crossed, last } = await judgeAlerts(ctx.db, after, turn);
    for (let from = 0; from < crossed.length; from += AT_ONCE) await tellLow(ctx, crossed.slice(from, from + AT_ONCE));
    after = last ?? '';
  };
}

const tellLow = (ctx: Store, accountIds: readonly string[]): Promise<unknown> =>
  ctx.db.transaction(async (tx) => {
    const events = (await markCrossedAlerts(tx, accountIds))
      .filter(({ isLow }) => isLow)
      .map(({ accountId, treasuryId, availableMicro, belowMicro }) => {
        const data = { treasuryId, available: formatUsdc(availableMicro), below: formatUsdc(belowMicro) };
        return { type: 'balance.low' as const, accountId, subjectId: treasuryId ?? accountId, data };
      });
    await emit(tx, events, ctx.clock.now());
  });
