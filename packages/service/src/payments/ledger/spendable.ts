import { formatUsdc } from '@agent-network/contracts/money';
import type { Balance } from '@agent-network/contracts/payments/payments';
import type { KnownCaller } from '../../accounts/caller.ts';
import { readLimitUse, type UsageContext } from '../../accounts/limits/read-limit-use.ts';
import { spentOn } from '../../accounts/limits/spend.ts';
import type { LedgerAccount } from './ledger-store.ts';

type Spendable = Balance['spendable'];
type Bound = Spendable['limitedBy'];

/** Limits of a caller's spending, in micro-USDC; null: no limit. */
export interface Bounds {
  readonly mayInvoke: boolean;
  readonly isFrozen: boolean;
  readonly callsLeft: number;
  readonly availableMicro: bigint;
  readonly dayLeftMicro: bigint | null;
  readonly perCallMicro: bigint | null;
}

/** Maximum cost of one call, and of all together, with the limit that applies to one call. Refusals come before limits of amount. */
export function spendableOf(bounds: Bounds): { callMicro: bigint; allMicro: bigint; limitedBy: Bound } {
  const nothing = (limitedBy: Bound) => ({ callMicro: 0n, allMicro: 0n, limitedBy });
  if (!bounds.mayInvoke) return nothing('scope');
  if (bounds.isFrozen) return nothing('frozen');
  if (bounds.callsLeft === 0) return nothing('plan');
  const { availableMicro, dayLeftMicro, perCallMicro } = bounds;
  const isByDay = dayLeftMicro !== null && dayLeftMicro < availableMicro;
  const left = isByDay ? dayLeftMicro : availableMicro;
  const allMicro = left > 0n ? left : 0n;
  if (perCallMicro !== null && perCallMicro < allMicro)
    return { callMicro: perCallMicro, allMicro, limitedBy: 'per_call' };
  return { callMicro: allMicro, allMicro, limitedBy: isByDay ? 'per_day' : 'funds' };
}

/** Amount that the caller can spend now by treasury: holds are off its balance, the limits of key and plan apply. */
export async function readSpendable(
  ctx: UsageContext,
  caller: KnownCaller,
  treasuries: readonly LedgerAccount[],
): Promise<Spendable> {
  const payer = treasuries.find(({ agentId }) =>
    caller.kind === 'agent' ? agentId === caller.agentId : agentId === null,
  );
  const limits = caller.kind === 'account' ? caller.limits : null;
  const [{ invocations }, dayLeftMicro] = await Promise.all([readLimitUse(ctx, caller), dayLeft(ctx, caller)]);
  const { callMicro, allMicro, limitedBy } = spendableOf({
    mayInvoke: caller.kind === 'agent' || caller.scopes.includes('invoke'),
    isFrozen: payer?.frozenAt != null,
    callsLeft: Math.max(0, invocations.limit - invocations.used),
    availableMicro: payer ? payer.postedMicro - payer.heldMicro : 0n,
    dayLeftMicro,
    perCallMicro: limits?.perCallMicro ?? null,
  });
  return {
    treasuryId: payer?.id ?? null,
    perCall: formatUsdc(callMicro),
    total: formatUsdc(allMicro),
    limitedBy,
    callsLeft: Math.max(0, invocations.limit - invocations.used),
  };
}

async function dayLeft(ctx: UsageContext, caller: KnownCaller): Promise<bigint | null> {
  if (caller.kind !== 'account' || caller.limits.perDayMicro === null) return null;
  const spent = await spentOn(ctx, [caller.budgetId], ctx.clock.now());
  return caller.limits.perDayMicro - (spent.get(caller.budgetId) ?? 0n);
}
