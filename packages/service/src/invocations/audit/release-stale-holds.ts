import type { HasDb } from '../../db/database.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import { endHolds } from '../../payments/ledger/hold-money.ts';
import { feeOf } from '../../payments/ledger/platform-fee.ts';
import { agentTreasuryId } from '../../payments/ledger/treasury.ts';
import { listStaleHolds, type StaleHold } from '../audit-store.ts';
import { type EndContext, oweBack } from '../finish/end-invocations.ts';
import { findInvocation } from '../invocation-store.ts';

type ReleaseContext = EndContext & HasDb & HasLog & HasMetrics;

const BATCH = 100;

/**
 * Ends holds that outlived their time although their request has ended or never was: as the request says, else in favour of
 * whoever paid. The end of a request ends its hold in the same transaction, so there is none unless the node is at fault.
 */
export async function releaseStaleHolds(ctx: ReleaseContext): Promise<void> {
  for (const hold of await listStaleHolds(ctx.db, ctx.clock.now(), BATCH)) {
    ctx.log.error({ requestId: hold.id, status: hold.status }, 'hold outlived its request; ending it');
    ctx.metrics.moneyContradictions.inc({ kind: 'stale_hold' });
    await release(ctx, hold);
  }
}

async function release(ctx: ReleaseContext, { id, ledgerAccountId }: StaleHold): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const invocation = await findInvocation(tx, id);
    const captureMicro = invocation?.costMicro ?? 0n;
    const creditId = invocation ? agentTreasuryId(invocation.agentId) : ledgerAccountId;
    await endHolds(tx, [{ id, captureMicro, creditId, feeMicro: feeOf(captureMicro, ctx.platformFeeBps) }], now);
    if (invocation) await oweBack(ctx, tx, [invocation]);
  });
}
