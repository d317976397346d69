import type { OperatorAccount } from '@agent-network/contracts/network/operator-accounts';
import { keylessCaller } from '../accounts/keyless-caller.ts';
import type { KeySettings } from '../accounts/limits/plan-caps.ts';
import { readLimitUse, type UsageContext } from '../accounts/limits/read-limit-use.ts';
import type { CallServices } from '../calls/call-services.ts';
import { notFound } from '../lib/app-error.ts';
import { toItem, toTotals } from './account-status.ts';
import { type AccountChangeRow, findAccountRow, listAccountChanges, readAccountUse } from './account-status-store.ts';

const MAX_CHANGES = 50;

type ReadContext = UsageContext & KeySettings & CallServices;

/**
 * One account for an operator: its plan, the use of its limits (those of nodes for one that belongs to a node), its money, and the changes
 * by operators. Throws NOT_FOUND.
 */
export async function readOperatorAccount(ctx: ReadContext, accountId: string): Promise<OperatorAccount> {
  const row = await findAccountRow(ctx.db, accountId);
  if (!row) throw notFound('account');
  const [limits, use, changes, storage] = await Promise.all([
    readLimitUse(ctx, { ...keylessCaller(row.address), accountId, plan: row.plan, node: row.node }),
    readAccountUse(ctx.db, accountId, ctx.clock.now()),
    listAccountChanges(ctx.db, accountId, MAX_CHANGES),
    ctx.storageMeter.read(row),
  ]);
  const caps = ctx.planCaps[row.plan];
  return {
    ...toItem(row),
    ...toTotals(row),
    walletProven: row.walletProvenAt !== null,
    limits,
    keys: { used: use.keys, most: caps.keys },
    agents: { used: use.agents, most: caps.agents },
    storage: { usedBytes: storage.stored, mostBytes: storage.limit },
    changes: changes.map(toChange),
  };
}

const toChange = ({ kind, plan, reason, actorAccountId, actorId, at }: AccountChangeRow) => ({
  ...{ kind, plan, reason },
  ...{ byAccountId: actorAccountId, byKeyId: actorId, at: at.toISOString() },
});
