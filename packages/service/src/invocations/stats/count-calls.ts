import type { Tx } from '../../db/sql.ts';
import { feeOf, type HasPlatformFee } from '../../payments/ledger/platform-fee.ts';
import type { BilledRequest } from '../billed-store.ts';
import type { Invocation } from '../invocation.ts';
import { type CallChange, insertCallChanges } from './call-figure-store.ts';

/** Adds invocations to the figures of their callers and of the agents' accounts, in the transaction that ends them. */
export const countEnded = (ctx: HasPlatformFee, tx: Tx, ended: readonly Invocation[]): Promise<void> =>
  countChanges(
    tx,
    ended.map((invocation) => toChange(ctx, invocation)),
  );

/** Adds a change of money of an ended request to the figures, in the transaction that makes it. */
export const countMoney = (
  tx: Tx,
  { accountId, agentId, createdAt }: Pick<BilledRequest, 'accountId' | 'agentId' | 'createdAt'>,
  { spentMicro = 0n, earnedMicro = 0n }: { spentMicro?: bigint; earnedMicro?: bigint },
): Promise<void> =>
  countChanges(tx, [
    {
      ...{ accountId, agentId, madeAt: createdAt, spentMicro, earnedMicro },
      ...{ durationMs: null, calls: 0, completed: 0, failed: 0 },
    },
  ]);

const countChanges = async (tx: Tx, changes: readonly CallChange[]): Promise<void> => {
  if (changes.length > 0) await insertCallChanges(tx, changes);
};

function toChange(ctx: HasPlatformFee, invocation: Invocation): CallChange {
  const { accountId, agentId, createdAt, startedAt, completedAt, status } = invocation;
  const costMicro = invocation.costMicro ?? 0n;
  // A bill is paid to the agent on chain: it is no earning here, unless it is not collected.
  const isEarned = invocation.payerLedgerId !== null && invocation.billedMicro === null;
  return {
    accountId,
    agentId,
    madeAt: createdAt,
    durationMs: status === 'completed' && startedAt && completedAt ? completedAt.getTime() - startedAt.getTime() : null,
    calls: 1,
    completed: status === 'completed' ? 1 : 0,
    failed: status === 'failed' ? 1 : 0,
    spentMicro: costMicro,
    earnedMicro: isEarned ? costMicro - feeOf(costMicro, ctx.platformFeeBps) : 0n,
  };
}
