import { formatUsdc } from '@agent-network/contracts/money';
import type { OperatorAccount } from '@agent-network/contracts/network/operator-accounts';
import { keylessCaller } from '../access/caller/keyless-caller.ts';
import type { HasPlanCaps } from '../access/limits/plan-caps.ts';
import { readLimitUse, type UsageContext } from '../access/limits/read-limit-use.ts';
import type { HasStorageMeter } from '../invocations/retention/require-storage.ts';
import { notFound } from '../lib/app-error.ts';
import { availableOf } from '../payments/ledger/treasury.ts';
import { toItem } from './account-standing.ts';
import { type AccountChangeRow, findAccountRow, listAccountChanges, readAccountUse } from './account-standing-store.ts';

const MAX_CHANGES = 50;

/** Limits of a plan beside those of calls. */
interface Holdings extends HasPlanCaps, HasStorageMeter {}

type ReadContext = UsageContext & Holdings;

/** One account for an operator: its plan, the use of its limits (those of nodes for one that belongs to a node), its money, and what operators changed. Throws NOT_FOUND. */
export async function readOperatorAccount(ctx: ReadContext, accountId: string): Promise<OperatorAccount> {
  const row = await findAccountRow(ctx.db, accountId);
  if (!row) throw notFound('account');
  const [limits, use, changes, availableMicro, storage] = await Promise.all([
    readLimitUse(ctx, { ...keylessCaller(row.address), accountId, plan: row.plan, node: row.node }),
    readAccountUse(ctx.db, accountId, ctx.clock.now()),
    listAccountChanges(ctx.db, accountId, MAX_CHANGES),
    availableOf(ctx, accountId),
    ctx.storageMeter.read(row),
  ]);
  const caps = ctx.planCaps[row.plan];
  return {
    ...toItem(row),
    walletProven: row.walletProvenAt !== null,
    limits,
    keys: { used: use.keys, most: caps.keys },
    agents: { used: use.agents, most: caps.agents },
    storage: { usedBytes: storage.stored, mostBytes: storage.limit },
    available: formatUsdc(availableMicro),
    changes: changes.map(toChange),
  };
}

const toChange = ({ kind, plan, reason, actorAccountId, actorId, at }: AccountChangeRow) => ({
  ...{ kind, plan, reason },
  ...{ byAccountId: actorAccountId, byKeyId: actorId, at: at.toISOString() },
});
